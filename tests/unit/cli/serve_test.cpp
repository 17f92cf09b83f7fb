// What serve says when it cannot start. That it serves is tested in integration.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "unit/cli/program.h"

namespace runwarden::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct ServeCommand : testing::Test {
  Program program;

  std::string path(const std::string& name) const { return (program.folder().path() / name).string(); }
  // On that store and address.
  Ended serve(const std::string& store, const std::string& address = "127.0.0.1:0") const {
    const std::string config = program.folder().write("runwarden.yaml", "server: {address: \"" + address + "\"}\nstore: {path: " + store +
                                                                            ", map_size: 4MiB}\ndetectors: {include: [], enabled: []}\n");
    return program.run({"serve", "--config", config});
  }
};

TEST_F(ServeCommand, WhenTheStoreIsAFile_NamesIt) {
  program.folder().write("data", "mine");
  const Ended ended = serve("data");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("runwarden: store: cannot open \"" + path("data/service.lock") + "\": \"" + path("data") +
                                   "\" is a file, not a folder; name a folder, or move the file away\n"));
}

TEST_F(ServeCommand, WhenTheStoresParentIsMissing_NamesIt) {
  const Ended ended = serve("a/b/data");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("runwarden: store: cannot create \"" + path("a/b/data") + "\": the folder \"" + path("a/b") +
                                   "\" does not exist; create it, or check the path\n"));
}

// What root would create there, the owner could not open.
TEST_F(ServeCommand, AsRootOnTheStoreOfAnother_IsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  std::filesystem::create_directory(path("data"));
  ASSERT_EQ(::chown(path("data").c_str(), 65534, 65534), 0);
  const Ended ended = serve("data");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("runwarden: store.path: \"" + path("data") + "\" belongs to user nobody"));
  EXPECT_THAT(ended.err, HasSubstr("sudo -u nobody runwarden serve"));
  EXPECT_TRUE(std::filesystem::is_empty(path("data")));
}

TEST_F(ServeCommand, WithoutAConfigurationFile_SaysSoAndNamesTheDefaults) {
  if (std::filesystem::exists("/etc/runwarden/runwarden.yaml")) GTEST_SKIP() << "this machine has one";
  program.folder().write("data", "mine");  // it is to end at once
  const Ended ended = program.run({"serve", "--data-dir", path("data")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no configuration file at /etc/runwarden/runwarden.yaml: using the built-in defaults, "
                                   "among them server.address 127.0.0.1:8080 and store.path " +
                                   path("data")));
}

TEST_F(ServeCommand, WhenItCannotStart_DoesNotSayThatItStoppedInGoodOrder) {
  const Ended no_store = serve("a/b/data");
  EXPECT_THAT(no_store.err, Not(HasSubstr("everything acknowledged is on disk")));

  const int taken = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const Ended no_address = serve("data", "127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  ::close(taken);
  EXPECT_EQ(no_address.code, 1);
  EXPECT_THAT(no_address.err, HasSubstr("runwarden: server.address: cannot listen on 127.0.0.1:"));
  EXPECT_THAT(no_address.err, Not(HasSubstr("\"stopping\"")));
  EXPECT_THAT(no_address.err, Not(HasSubstr("\"stopped\"")));
}

}  // namespace
}  // namespace runwarden::cli
