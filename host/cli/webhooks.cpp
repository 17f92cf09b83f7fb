// webhooks: adds, shows, changes and removes webhooks, and shows their deliveries.
#include <CLI/CLI.hpp>
#include <memory>

#include "base/json_text.h"
#include "base/time_text.h"
#include "cli/command_store.h"
#include "cli/maintenance_command.h"
#include "cli/table.h"
#include "http_client/http_sender.h"
#include "webhooks/endpoint_request.h"
#include "webhooks/signature.h"
#include "webhooks/webhook_json.h"

namespace runwarden::cli {
namespace {

constexpr std::size_t kUsualDeliveries = 50;
constexpr std::size_t kMostDeliveries = 100'000;
constexpr const char* kEver = "1970-01-01T00:00:00Z";
constexpr std::size_t kReplayedAtOnce = 200;  // per transaction, which takes a few milliseconds

struct WebhookOptions {
  std::string tenant;
  std::string endpoint;
  std::string url;
  std::vector<std::string> events;
  std::string detector;
  int min_score = 0;
  std::string severity;
  std::string form = "standard";
  std::string description;
  std::string overlap = "24h";
  std::string state;
  std::string since;
  std::string delivery;
  std::size_t limit = kUsualDeliveries;
  bool json = false;
};

// One command on a tenant's webhooks in the store.
class WebhookCommand {
 public:
  WebhookCommand(Context& context, const WebhookOptions& options) : context_(context), options_(options) {}

  int add();
  int list();
  int remove();
  int rotate();
  int test();
  int set_disabled(model::Endpoint::Disabled disabled);
  int deliveries();
  int replay();

 private:
  bool open();
  store::WebhookStore& webhooks() { return store_->webhooks(); }
  int refuse_unknown() {
    return context_.refuse("tenant \"" + options_.tenant + "\" has no webhook \"" + options_.endpoint +
                           "\"; runwarden webhooks list --tenant " + options_.tenant + " shows its webhooks");
  }
  std::string request() const;

  Context& context_;
  const WebhookOptions& options_;
  CommandClock clock_;
  std::optional<config::Settings> settings_;
  std::unique_ptr<store::Store> store_;
  model::TenantId tenant_ = 0;
};

bool WebhookCommand::open() {
  settings_ = context_.settings();
  if (!settings_) return false;
  store_ = open_command_store(context_, *settings_, clock_, IfMissing::refuse);
  if (!store_) return false;
  tenant_ = find_tenant(context_, *store_, options_.tenant);
  return tenant_ != 0;
}

// The body of POST /v1/webhooks: parsing it gives the same error texts.
std::string WebhookCommand::request() const {
  std::string body;
  JsonWriter out(body);
  out.begin_object().key("url").string(options_.url);
  if (!options_.events.empty()) {
    out.key("events").strings(options_.events);
  }
  out.key("filter").begin_object();
  if (!options_.detector.empty()) out.key("detector").string(options_.detector);
  if (options_.min_score != 0) out.key("minScore").integer(options_.min_score);
  if (!options_.severity.empty()) out.key("severity").string(options_.severity);
  out.end_object().key("template").string(options_.form);
  if (!options_.description.empty()) out.key("description").string(options_.description);
  out.end_object();
  return body;
}

int WebhookCommand::add() {
  if (!open()) return kWanting;
  const auto rules = http_client::AddressRules::make(settings_->webhooks.allow, settings_->webhooks.allow_http);
  if (!rules.ok()) return context_.refuse("webhooks.allow: " + rules.error().detail);
  std::vector<std::string> detectors;
  for (const auto* entries : {&settings_->detectors.entries, &settings_->detectors.switched_off}) {
    for (const model::DetectorEntry& one : *entries) detectors.push_back(one.key);
  }
  auto endpoint = webhooks::read_endpoint_request(request(), *rules, detectors);
  if (!endpoint.ok()) return context_.refuse(endpoint.error().detail);
  if (!http_client::check_addresses(*rules, endpoint->url).empty()) {
    return context_.refuse(webhooks::address_not_allowed(endpoint->url).detail);
  }
  endpoint->secret = webhooks::make_secret();
  const auto added = webhooks().add_endpoint(tenant_, std::move(*endpoint));
  if (!added.ok()) return context_.refuse(added.error().detail);
  if (options_.json) {
    context_.out << webhooks::endpoint_json(*added, webhooks::SecretToo::yes) << "\n";
    return context_.finish();
  }
  context_.out << added->id << " " << webhooks::secret_text(added->secret) << "\n";
  context_.err << "keep the secret: it is not shown again\n";
  return context_.finish();
}

int WebhookCommand::list() {
  if (!open()) return kWanting;
  const auto all = webhooks().endpoints(tenant_);
  if (options_.json) {
    std::string text;
    JsonWriter out(text);
    out.begin_array();
    for (const model::Endpoint& one : all) out.raw(webhooks::endpoint_json(one, webhooks::SecretToo::no));
    out.end_array();
    context_.out << text << "\n";
    return context_.finish();
  }
  Table table({"WEBHOOK", "STATE", "PENDING", "DEAD", "LAST SUCCESS", "LAST ERROR", "URL"});
  for (const model::Endpoint& one : all) {
    const bool active = one.disabled == model::Endpoint::Disabled::no;
    table.add({one.id, active ? "active" : std::string("disabled (") + webhooks::name(one.disabled) + ")", std::to_string(one.pending),
               std::to_string(one.dead), one.last_success_ms == model::kNever ? "never" : format_time(one.last_success_ms), one.last_error,
               one.url});
  }
  table.print(context_.out);
  return context_.finish();
}

int WebhookCommand::remove() {
  if (!open()) return kWanting;
  if (!webhooks().remove_endpoint(tenant_, options_.endpoint)) return refuse_unknown();
  context_.out << options_.endpoint << " is removed\n";
  return context_.finish();
}

int WebhookCommand::rotate() {
  const auto overlap_ms = webhooks::read_overlap(options_.overlap);
  if (!open()) return kWanting;
  Status rotated = Nothing{};
  const auto changed = webhooks().change_endpoint(
      tenant_, options_.endpoint, [&](model::Endpoint& one) { rotated = webhooks::rotate(one, *overlap_ms, clock_.wall_ms()); });
  if (!changed) return refuse_unknown();
  if (!rotated.ok()) return context_.refuse(rotated.error().detail);
  context_.out << changed->id << " " << webhooks::secret_text(changed->secret) << "\n";
  if (*overlap_ms > 0) context_.err << "the previous secret also signs until " << format_time(changed->previous_until_ms) << "\n";
  return context_.finish();
}

int WebhookCommand::test() {
  if (!open()) return kWanting;
  const auto endpoint = webhooks().find_endpoint(tenant_, options_.endpoint);
  if (!endpoint || !webhooks().queue_test(tenant_, endpoint->key)) return refuse_unknown();
  context_.out << "queued a webhook.test message; the service will send it\n";
  return context_.finish();
}

int WebhookCommand::set_disabled(model::Endpoint::Disabled disabled) {
  if (!open()) return kWanting;
  const auto changed =
      webhooks().change_endpoint(tenant_, options_.endpoint, [&](model::Endpoint& one) { webhooks::set_disabled(one, disabled); });
  if (!changed) return refuse_unknown();
  context_.out << changed->id << " is " << (disabled == model::Endpoint::Disabled::no ? "active" : "disabled") << "\n";
  return context_.finish();
}

int WebhookCommand::deliveries() {
  if (!open()) return kWanting;
  const auto endpoint = webhooks().find_endpoint(tenant_, options_.endpoint);
  if (!endpoint) return refuse_unknown();
  store::DeliveryQuery query;
  query.range.limit = options_.limit;
  if (!options_.since.empty()) query.range.since_ms = *point_in_time(options_.since, clock_.wall_ms());
  if (!options_.state.empty()) query.state = model::delivery_state(options_.state);
  const auto page = webhooks().deliveries(tenant_, endpoint->key, query);
  if (options_.json) {
    std::string text;
    JsonWriter out(text);
    out.begin_array();
    for (const model::Delivery& one : page.items) out.raw(webhooks::delivery_json(one));
    out.end_array();
    context_.out << text << "\n";
    return context_.finish();
  }
  Table table({"DELIVERY", "EVENT", "STATE", "ATTEMPTS", "STATUS", "ERROR", "NEXT", "QUEUED"});
  for (const model::Delivery& one : page.items) {
    const bool waits = one.state == model::DeliveryState::pending;
    table.add({one.id, model::name(one.message.type), model::name(one.state), std::to_string(one.attempts),
               one.last_status == 0 ? "" : std::to_string(one.last_status), one.last_error, waits ? format_time(one.next_ms) : "",
               format_time(one.key.time_ms)});
  }
  table.print(context_.out);
  if (page.next) context_.err << "more deliveries exist; raise --limit to show them\n";
  return context_.finish();
}

int WebhookCommand::replay() {
  if (!open()) return kWanting;
  const auto endpoint = webhooks().find_endpoint(tenant_, options_.endpoint);
  if (!endpoint) return refuse_unknown();
  std::uint64_t queued = 0;
  if (!options_.delivery.empty()) {
    if (!webhooks().replay(tenant_, endpoint->key, options_.delivery)) {
      return context_.refuse("the webhook has no delivery \"" + options_.delivery + "\"; runwarden webhooks deliveries lists them");
    }
    queued = 1;
  } else {
    std::optional<model::RecordKey> from = model::RecordKey{*point_in_time(options_.since, clock_.wall_ms()), 0};
    while (from) {
      const auto replayed = webhooks().replay_dead(tenant_, endpoint->key, *from, kReplayedAtOnce);
      queued += replayed.queued;
      from = replayed.next;
    }
  }
  context_.out << queued << (queued == 1 ? " message" : " messages") << " queued; the service will send them again\n";
  return context_.finish();
}

std::string check_overlap(const std::string& text) {
  return webhooks::read_overlap(text) ? "" : "expected a duration of at most 30d, such as 24h, got \"" + text + "\"";
}

void add_tenant(CLI::App& command, WebhookOptions& options) {
  command.add_option("--tenant", options.tenant, "Whose webhooks")->required()->type_name("TENANT");
}

using Run = int (WebhookCommand::*)();

// Adds a command about one webhook.
CLI::App* add_about(CLI::App& webhooks, const char* name, const char* about, const std::shared_ptr<WebhookOptions>& options) {
  CLI::App* command = webhooks.add_subcommand(name, about);
  command->add_option("webhook", options->endpoint, "The webhook's id, as webhooks list shows it")->required()->type_name("WEBHOOK");
  add_tenant(*command, *options);
  command->footer(std::string("Example:\n  runwarden webhooks ") + name + " --tenant acme we_0199a3f47c1e70008000010000000001");
  return command;
}

void on_run(CLI::App& command, Context& context, const std::shared_ptr<WebhookOptions>& options, Run run) {
  command.callback([&context, options, run] {
    WebhookCommand with(context, *options);
    context.exit_code = (with.*run)();
  });
}

void add_add(CLI::App& webhooks, Context& context) {
  CLI::App* command = webhooks.add_subcommand("add", "Add a webhook; prints its id and its secret, which is shown only once");
  auto options = std::make_shared<WebhookOptions>();
  command->add_option("url", options->url, "Where messages are sent")->required()->type_name("URL");
  add_tenant(*command, *options);
  command
      ->add_option("--event,--events", options->events,
                   "An event to send, or several with commas; may be repeated. Default: cluster.created, "
                   "cluster.regressed, cluster.rising; also: failure.created, cluster.triaged, checkpoint.created")
      ->delimiter(',')
      ->type_name("EVENT");
  command->add_option("--detector", options->detector, "Only failures and groups of this detector")->type_name("KEY");
  command->add_option("--min-score", options->min_score, "Only with at least this score")->type_name("N")->check(CLI::Range(0, 100));
  command->add_option("--severity", options->severity, "Only of this severity")
      ->type_name("SEVERITY")
      ->check(CLI::IsMember({"low", "medium", "high", "critical"}));
  command->add_option("--template", options->form, "standard, or slack for a Slack incoming webhook")
      ->type_name("TEMPLATE")
      ->check(CLI::IsMember({"standard", "slack"}))
      ->capture_default_str();
  command->add_option("--description", options->description, "What it is for")->type_name("TEXT");
  command->add_flag("--json", options->json, "Print the webhook as a JSON object, with its secret");
  command->footer("Example:\n  runwarden webhooks add --tenant acme https://hooks.example.com/runwarden --event cluster.created");
  on_run(*command, context, options, &WebhookCommand::add);
}

void add_switch(CLI::App& webhooks, Context& context, const char* name, const char* about, model::Endpoint::Disabled disabled) {
  auto options = std::make_shared<WebhookOptions>();
  CLI::App* command = add_about(webhooks, name, about, options);
  command->callback([&context, options, disabled] {
    WebhookCommand with(context, *options);
    context.exit_code = with.set_disabled(disabled);
  });
}

void add_deliveries(CLI::App& webhooks, Context& context) {
  auto options = std::make_shared<WebhookOptions>();
  CLI::App* command = add_about(webhooks, "deliveries", "List past and pending messages to a webhook, newest first", options);
  command->add_option("--state", options->state, "Only those in this state")
      ->type_name("STATE")
      ->check(CLI::IsMember({"pending", "delivered", "dead"}));
  command->add_option("--since", options->since, "Only those queued since then: a time, or an age such as 1h")
      ->type_name("TIME")
      ->check(check_point_in_time);
  command->add_option("--limit", options->limit, "At most this many")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kMostDeliveries))
      ->capture_default_str();
  command->add_flag("--json", options->json, "An array of objects with the names of GET /v1/webhooks/{endpointId}/deliveries");
  on_run(*command, context, options, &WebhookCommand::deliveries);
}

void add_delivery_replay(CLI::App& webhooks, Context& context) {
  auto options = std::make_shared<WebhookOptions>();
  CLI::App* command = add_about(webhooks, "replay", "Send a delivery again, or all dead ones since a time", options);
  CLI::Option* delivery = command->add_option("--delivery", options->delivery, "This delivery, whatever its state")->type_name("DELIVERY");
  CLI::Option* since = command->add_option("--since", options->since, "The dead ones queued since then: a time, or an age such as 1h")
                           ->type_name("TIME")
                           ->check(check_point_in_time);
  delivery->excludes(since);
  command->add_option("--state", options->state, "dead: those that it sends anyway; without --since all of them")
      ->type_name("STATE")
      ->check(CLI::IsMember({"dead"}))
      ->excludes(delivery);
  command->callback([&context, options] {
    if (options->since.empty() && !options->state.empty()) options->since = kEver;
    if (options->delivery.empty() && options->since.empty()) throw CLI::RequiredError("--delivery or --since");
    WebhookCommand with(context, *options);
    context.exit_code = with.replay();
  });
  command->footer("Example:\n  runwarden webhooks replay --tenant acme we_0199a3f47c1e70008000010000000001 --since 2026-11-20T15:00:00Z");
}

}  // namespace

void add_webhooks(CLI::App& app, Context& context) {
  CLI::App* webhooks = app.add_subcommand("webhooks", "Manage webhooks and their deliveries, which report failures to other services");
  need_subcommand(*webhooks);
  webhooks->footer(
      "Can run while the service is running; the service sends the messages.\n\nExample:\n  runwarden webhooks list --tenant acme");
  add_add(*webhooks, context);
  CLI::App* list = webhooks->add_subcommand("list", "List the webhooks of a tenant, without their secrets");
  auto listed = std::make_shared<WebhookOptions>();
  add_tenant(*list, *listed);
  list->add_flag("--json", listed->json, "An array of objects with the names of GET /v1/webhooks");
  list->footer("Example:\n  runwarden webhooks list --tenant acme");
  on_run(*list, context, listed, &WebhookCommand::list);
  auto removed = std::make_shared<WebhookOptions>();
  on_run(*add_about(*webhooks, "remove", "Remove a webhook and its pending messages", removed), context, removed, &WebhookCommand::remove);
  auto rotated = std::make_shared<WebhookOptions>();
  CLI::App* rotate = add_about(*webhooks, "rotate", "Give a webhook a new secret; prints its id and the secret", rotated);
  rotate->add_option("--overlap", rotated->overlap, "How long the previous secret also signs")
      ->type_name("DURATION")
      ->check(check_overlap)
      ->capture_default_str();
  on_run(*rotate, context, rotated, &WebhookCommand::rotate);
  auto tested = std::make_shared<WebhookOptions>();
  on_run(*add_about(*webhooks, "test", "Send a webhook.test message", tested), context, tested, &WebhookCommand::test);
  add_switch(*webhooks, context, "enable", "Resume sending to a disabled webhook, pending messages first", model::Endpoint::Disabled::no);
  add_switch(*webhooks, context, "disable", "Stop sending to a webhook; events in the meantime are not delivered later",
             model::Endpoint::Disabled::asked);
  add_deliveries(*webhooks, context);
  add_delivery_replay(*webhooks, context);
}

}  // namespace runwarden::cli
