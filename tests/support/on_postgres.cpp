// Runs a test program with the services that it starts on PostgreSQL: each gets a fresh database of one server, which ends with the program.
//
//   on_postgres PROGRAM [ARGUMENT...]
//
// Exits as the program does; 77 where no PostgreSQL is installed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "support/postgres.h"

int main(int argc, char** argv) {
  using runwarden::test::PostgresServer;
  if (argc < 2) return EXIT_FAILURE;
  if (!PostgresServer::installed()) {
    std::puts("SKIPPED: no PostgreSQL server is installed: apt-get install postgresql-15");
    return 77;
  }
  PostgresServer& server = PostgresServer::shared();
  ::setenv("ON_POSTGRES_SERVER", server.socket().parent_path().c_str(), 1);
  ::setenv("ON_POSTGRES_PROGRAMS", PostgresServer::programs().c_str(), 1);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execv(argv[1], argv + 1);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
