// The configuration is right or says everything that is wrong with it, at once, with places and suggestions, and no secrets.
import { describe, expect, it } from "vitest";
import { complaints, paths, valid } from "../../testkit/configuration/loading.ts";
import { complaintLine } from "./complaint.ts";
import { loadConfiguration } from "./load-configuration.ts";

/** What must be said before anything may listen beyond this machine. */
const exposed = {
  PORTCULLIS_MODE: "production",
  PORTCULLIS_INSECURE: "true",
  PORTCULLIS_BASE_URL: "https://p.example",
};

describe("what is in force", () => {
  it("has a default for everything", () => {
    const { configuration, sources } = valid(undefined);
    expect(configuration).toMatchObject({
      data_dir: ".portcullis",
      services: ["riskengine", "operations", "oms", "treasury", "research", "gateway"],
      http: { host: "127.0.0.1", port: 8080, public_port: 8081 },
      grpc: { host: "127.0.0.1", port: 50051, operations_port: 50052 },
      database: {},
      bus: { retention_s: 3600, compression: "none", replicas: 1, bytes_max: 2_147_483_648 },
      secrets: { backend: "file", prefix: "portcullis", vault: {} },
      lifecycle: { drain_timeout_s: 8 },
      synthetic_stop: { enabled: true, poll_interval_s: 5, poll_interval_equities_s: 60 },
      broker_exit_reconciler: { enabled: true, interval_s: 120, alert_threshold: 1, auto_correct: false },
      funds: [],
      github_bot: { daily_usd: 5, per_repo_daily_cap: 1, expensive_actions: { bug_fixer: 0.2 } },
      chat_bot: { daily_usd: 3, per_channel_daily_cap_usd: 1, cooldown_per_user_seconds: 30 },
      reports: { schedule: {} },
    });
    expect(new Set([...sources.values()].map(({ from }) => from))).toEqual(new Set(["default"]));
    for (const empty of ["", "# nothing\n", "---\n", "{}", "http: {}"])
      expect(valid(empty).configuration).toEqual(configuration);
  });

  it("puts the environment over the file over the default, and knows the source of each", () => {
    const { configuration, sources } = valid("http:\n  port: 1000\n  public_port: 1001\n", {
      PORTCULLIS_HTTP_PORT: "2000",
      PORTCULLIS_SERVICES: "oms, gateway",
      PORTCULLIS_HTTP_HOST: "",
      PATH: "/bin",
    });
    expect(configuration.http).toEqual({
      host: "127.0.0.1",
      port: 2000,
      public_port: 1001,
      public_rate_per_s: 20,
      public_burst: 40,
      trusted_proxies: [],
    });
    expect(configuration.services).toEqual(["oms", "gateway"]);
    expect(sources.get("http.port")).toEqual({ from: "environment", name: "PORTCULLIS_HTTP_PORT" });
    expect(sources.get("http.public_port")).toEqual({ from: "file", where: "p.yaml:3" });
    expect(sources.get("http.host")).toEqual({ from: "default" });
    expect(sources.get("services")).toEqual({ from: "environment", name: "PORTCULLIS_SERVICES" });
  });

  it("takes what NATS needs beside its address", () => {
    const { configuration } = valid("bus:\n  replicas: 3\n  tls_ca_file: ca.pem\n", {
      PORTCULLIS_BUS_CREDS_FILE: "user.creds",
      PORTCULLIS_BUS_BYTES_MAX: "1048576",
    });
    expect(configuration.bus).toMatchObject({
      creds_file: "user.creds",
      tls_ca_file: "ca.pem",
      replicas: 3,
      bytes_max: 1_048_576,
    });
    expect(paths("bus:\n  replicas: 6\n  bytes_max: 1000\n")).toEqual(["bus.replicas", "bus.bytes_max"]);
  });

  it("cannot be changed", () => {
    const { configuration } = valid("fund: {fund_id: alpha}");
    const everything = [configuration, configuration.http, configuration.services, configuration.funds[0]?.compliance];
    for (const part of everything) expect(Object.isFrozen(part)).toBe(true);
  });

  it("reads `fund` as a list of one, with the line it stands in", () => {
    const { configuration, sources } = valid("fund:\n  fund_id: alpha\n  compliance:\n    cat_enabled: false\n");
    expect(configuration.funds).toEqual([
      {
        fund_id: "alpha",
        public: { listed: true, nav_delay_s: 900 },
        compliance: {
          cat_enabled: false,
          cat_account_holder_type: "A",
          cat_dept_type: "A",
          cat_destinations: {},
          mifid_enabled: false,
          mifid_venues: {},
          oats_enabled: false,
        },
      },
    ]);
    expect("fund" in configuration).toBe(false);
    expect(sources.get("funds[0].fund_id")).toEqual({ from: "file", where: "p.yaml:2" });
    expect(valid("funds:\n- fund_id: a\n- fund_id: b\n").configuration.funds.map((fund) => fund.fund_id)).toEqual([
      "a",
      "b",
    ]);
  });

  it("takes the file from --config before PORTCULLIS_CONFIG, and aliases within reason", () => {
    const files: Record<string, string> = { a: "http: {port: 1}", b: "http: {port: 2}" };
    const options = { environment: { PORTCULLIS_CONFIG: "a" }, readFile: (path: string) => files[path] ?? "" };
    for (const words of [["--single-process", "--config", "b"], ["--config=b"]]) {
      const loaded = loadConfiguration({ ...options, arguments: words });
      expect(loaded.ok && loaded.configuration.http.port).toBe(2);
    }
    const text =
      "funds:\n- fund_id: a\n  compliance: &c {cat_enabled: true, cat_subscriber_id: S}\n- {fund_id: b, compliance: *c}\n";
    expect(valid(text).configuration.funds[1]?.compliance.cat_subscriber_id).toBe("S");
  });
});

describe("complaints", () => {
  it("reports five mistakes as five, each with path, value, expectation, place and suggestion", () => {
    const text = [
      "http:",
      "  prot: 8080",
      "  public_port: 70000",
      "synthetic_stop:",
      "  poll_interval_s: fast",
      "services: [riskengin]",
      "",
    ].join("\n");
    const found = complaints(text, { PORTCULLIS_GRCP_PORT: "1" });
    const wanted = [
      {
        path: "http.public_port",
        value: "70000",
        expected: "a port: a whole number from 0 to 65535 (0 takes any free one)",
        where: "p.yaml:3",
      },
      {
        path: "http.prot",
        value: "8080",
        expected:
          "a known key: host, port, public_port, base_url, public_url, public_rate_per_s, public_burst, trusted_proxies",
        where: "p.yaml:2",
        suggestion: "http.port",
      },
      {
        path: "synthetic_stop.poll_interval_s",
        value: '"fast"',
        expected: "a whole number from 1 to 86400",
        where: "p.yaml:5",
      },
      {
        path: "services[0]",
        value: '"riskengin"',
        expected: "one of riskengine, operations, oms, treasury, research, gateway",
        where: "p.yaml:6",
        suggestion: "riskengine",
      },
      {
        path: "PORTCULLIS_GRCP_PORT",
        value: "an unknown variable",
        expected: "a known one",
        where: "environment",
        suggestion: "PORTCULLIS_GRPC_PORT",
      },
    ];
    const byPath = (left: { path: string }, right: { path: string }) => (left.path < right.path ? -1 : 1);
    expect(found.toSorted(byPath)).toEqual(wanted.toSorted(byPath));
    expect(complaintLine(found.find(({ path }) => path === "http.prot") ?? raise())).toBe(
      "http.prot (p.yaml:2): found 8080, expected a known key: host, port, public_port, base_url, public_url, public_rate_per_s, public_burst, trusted_proxies; did you mean http.port?",
    );
  });

  it.each<[text: string, path: string]>([
    ["http: {port: -1}", "http.port"],
    ["http: {port: 65536}", "http.port"],
    ["http: {port: 80.5}", "http.port"],
    ["http: {port: '80'}", "http.port"],
    ["http: {port: .nan}", "http.port"],
    ["http: {port: }", "http.port"],
    ["http: {port: [1]}", "http.port"],
    ["http: {host: 'a:80'}", "http.host"],
    ["http: 3", "http"],
    ["http:", "http"],
    ["data_dir: ''", "data_dir"],
    ["services: []", "services"],
    ["services: oms", "services"],
    ["services: [oms, oms]", "services[1]"],
    ["log: {level: loud}", "log.level"],
    ["log: {format: yes}", "log.format"],
    ["synthetic_stop: {enabled: 'true'}", "synthetic_stop.enabled"],
    ["synthetic_stop: {poll_interval_s: 0}", "synthetic_stop.poll_interval_s"],
    ["broker_exit_reconciler: {alert_threshold: 0}", "broker_exit_reconciler.alert_threshold"],
    ["fund: {}", "fund.fund_id"],
    ["fund: {fund_id: 7}", "fund.fund_id"],
    ["fund: {fund_id: 'a b'}", "fund.fund_id"],
    ["fund: {fund_id: a}\nfunds: [{fund_id: b}]", "fund"],
    ["funds: [{fund_id: a}, {fund_id: b}, {fund_id: a}]", "funds[2].fund_id"],
    ["fund: {fund_id: a, compliance: {cat_enabled: true}}", "fund.compliance.cat_subscriber_id"],
    ["funds: [{fund_id: a, compliance: {cat_enabled: true}}]", "funds[0].compliance.cat_subscriber_id"],
    ["github_bot: {daily_usd: -1}", "github_bot.daily_usd"],
    ["github_bot: {daily_usd: .inf}", "github_bot.daily_usd"],
    ["github_bot: {expensive_actions: {bug_fixr: 1}}", "github_bot.expensive_actions.bug_fixr"],
    ["chat_bot: {cooldown_per_user_seconds: 1.5}", "chat_bot.cooldown_per_user_seconds"],
    ["reports: {schedule: {nav: {cron: '0 6 * *', distribute: [chat]}}}", "reports.schedule.nav.cron"],
    ["reports: {schedule: {nav: {cron: '60 6 * * *', distribute: [chat]}}}", "reports.schedule.nav.cron"],
    ["reports: {schedule: {nav: {cron: '0 6 * * *', distribute: [fax]}}}", "reports.schedule.nav.distribute[0]"],
    ["reports: {schedule: {nav: {cron: '0 6 * * *', distribute: []}}}", "reports.schedule.nav.distribute"],
    ["reports: {schedule: {nav: {cron: '0 6 * * *'}}}", "reports.schedule.nav.distribute"],
    ["reports: {schedule: {'a nav': {cron: '0 6 * * *', distribute: [chat]}}}", 'reports.schedule."a nav"'],
    ["reports: {schedule: {nav: {cron: '0 0 30 2 *', distribute: [chat]}}}", "reports.schedule.nav.cron"],
    ["reports: {schedule: {weekly: {cron: '0 6 * * *', distribute: [chat]}}}", "reports.schedule.weekly.report"],
    ["reports: {schedule: {nav-tca: {cron: '0 6 * * *', distribute: [chat]}}}", "reports.schedule.nav-tca.report"],
    [
      "reports: {schedule: {nav: {cron: '0 6 * * *', distribute: [chat], report: alpha_decay}}}",
      "reports.schedule.nav.report",
    ],
    [
      "reports: {schedule: {nav: {cron: '0 6 * * *', distribute: [chat], time_zone: Mars}}}",
      "reports.schedule.nav.time_zone",
    ],
    ["reports: {schedule: {nav: {cron: '0 6 * * *', distribute: [chat], window: 2w}}}", "reports.schedule.nav.window"],
    [
      "reports: {schedule: {risk: {cron: '0 6 * * *', distribute: [chat], window: 1d}}}",
      "reports.schedule.risk.window",
    ],
    ["reports: {email: {provider: smtp, to: [a@b.example]}}", "reports.email.host"],
    ["reports: {email: {provider: smtp, host: mail.example}}", "reports.email.to"],
    ["reports: {email: {to: ['a@b.example, c@d.example']}}", "reports.email.to[0]"],
    ["reports: {email: {provider: smtp, host: mail.example, to: [a@b.example], tls: none}}", "reports.email.host"],
    ["reports: {storage: {provider: s3, endpoint: 'https://s', bucket: abc}}", "reports.storage.access_key_id"],
    ["reports: {storage: {endpoint: 'http://s3.example'}}", "reports.storage.endpoint"],
    ["database: {url: mysql://h/d}", "database.url"],
    ["bus: {url: http://h}", "bus.url"],
    ["bus: {url: 'nats://h/path'}", "bus.url"],
    ["bus: {compression: gzip}", "bus.compression"],
    ["rpc: {oms: nowhere}", "rpc.oms"],
    ['rpc: {oms: "host:70000"}', "rpc.oms"],
    ["telemetry: {otlp_endpoint: collector}", "telemetry.otlp_endpoint"],
    ["http: {port: 9000, public_port: 9000}", "http.public_port"],
    ["http: {port: 8081}", "http.port"],
    ["grpc: {operations_port: 50051}", "grpc.operations_port"],
    ["lifecycle: {restart_backoff_first_ms: 20000}", "lifecycle.restart_backoff_first_ms"],
    ["disk: {warn_mb: 999}", "disk.warn_mb"],
    ["disk: {new_risk_mb: 2001}", "disk.new_risk_mb"],
    ["disk: {warn_mb: 400, new_risk_mb: 300, reserve_mb: 301}", "disk.reserve_mb"],
    ["disk: {new_risk_mb: 0, reserve_mb: 0}", "disk.new_risk_mb"],
    ["<<: {http: 1}", '"<<"'],
  ])("has exactly one for %s", (text, path) => {
    expect(paths(text)).toEqual([path]);
  });

  it.each<[text: string, path: string, other: string]>([
    ["http: {port: 50051}", "http.port", "grpc.port"],
    ["grpc: {port: 8080}", "grpc.port", "http.port"],
    ["grpc: {operations_port: 8081}", "grpc.operations_port", "http.public_port"],
    ["rpc: {oms: '127.0.0.1:8080'}", "rpc.oms", "http.port"],
    ["rpc: {oms: 'localhost:50051'}", "rpc.oms", "grpc.port"],
    ["rpc: {oms: '0.0.0.0:50052'}", "rpc.oms", "grpc.operations_port"],
    ["rpc: {oms: '127.0.0.1:7000', research: '127.0.0.1:7000'}", "rpc.research", "rpc.oms"],
    ["rpc: {riskengine: '127.0.0.1:50052'}", "rpc.riskengine", "grpc.operations_port"],
    ["http: {host: '0.0.0.0', port: 50051}", "http.port", "grpc.port"],
  ])("tells the clash of ports in %s", (text, path, other) => {
    const found = complaints(text, exposed);
    expect(found.map((complaint) => complaint.path)).toEqual([path]);
    expect(found[0]?.expected).toMatch(
      new RegExp(`^another port than ${other.replace(".", "\\.")}, which is \\d+ too$`),
    );
  });

  it.each([
    "rpc: {riskengine: '127.0.0.1:7000'}\ngrpc: {port: 8080}",
    "services: [gateway]\ngrpc: {port: 8080}\nrpc: {oms: 'oms.example:8080', insecure: true}",
    "services: [riskengine, oms]\nhttp: {port: 50051}",
    "grpc: {host: 10.0.0.1, port: 8080}",
    "rpc: {oms: '127.0.0.2:8080', treasury: '[::1]:8080'}",
    "rpc: {oms: '127.0.0.1:0', treasury: '127.0.0.1:0'}",
  ])("finds no clash of ports in %j", (text) => {
    expect(complaints(text, exposed)).toEqual([]);
  });

  it("lets two free ports be the same zero", () => {
    expect(paths("http: {port: 0, public_port: 0}\ngrpc: {port: 0, operations_port: 0}")).toEqual([]);
  });

  it.each([
    ["http: {prot: 1}", "http.port"],
    ["htpp: {port: 1}", "http"],
    ["Synthetic-Stop: {enabled: true}", "synthetic_stop"],
    ["synthetic_stop: {poll_intervall_s: 3}", "synthetic_stop.poll_interval_s"],
    ["cat_subscriber_id: X", "fund.compliance.cat_subscriber_id"],
    ["fund: {fund_id: a, fundid: b}", "fund.fund_id"],
    ["log: {level: wran}", "warn"],
    ["complietly_unknown_thing: 1", undefined],
  ])("suggests for %s the nearest: %s", (text, suggestion) => {
    const found = complaints(text);
    expect(found).toHaveLength(1);
    expect(found[0]?.suggestion).toBe(suggestion);
  });

  it("reads the environment as strictly as the file", () => {
    const found = complaints(undefined, {
      PORTCULLIS_HTTP_PORT: "80a",
      PORTCULLIS_GRPC_PORT: "99999",
      PORTCULLIS_SERVICES: "oms,gatewy",
      PORTCULLIS_LOG_LEVEL: "inof",
      portcullis_http_host: "x",
      PORTCULLIS_URL: "http://x",
      PORTCULLIS_PROFILE: "x",
      PORTCULLIS_TEST_LONG: "1",
    });
    expect(found.map(({ where, suggestion }) => [where, suggestion])).toEqual([
      ["environment PORTCULLIS_SERVICES", "gateway"],
      ["environment PORTCULLIS_HTTP_PORT", undefined],
      ["environment PORTCULLIS_GRPC_PORT", undefined],
      ["environment PORTCULLIS_LOG_LEVEL", "info"],
      ["environment", "PORTCULLIS_HTTP_HOST"],
    ]);
    const own = loadConfiguration({
      environment: { PORTCULLIS_PART: "oms" },
      readFile: () => "",
      alsoKnown: ["PORTCULLIS_PART"],
    });
    expect(own.ok).toBe(true);
  });

  it("asks for what the Vault backend needs", () => {
    const vault = { PORTCULLIS_SECRETS: "vault" };
    expect(paths(undefined, vault)).toEqual(["secrets.vault.addr", "secrets.vault.token"]);
    const address = { ...vault, PORTCULLIS_VAULT_ADDR: "https://vault.example:8200" };
    expect(paths(undefined, { ...address, PORTCULLIS_VAULT_ROLE_ID: "r" })).toEqual(["secrets.vault.secret_id"]);
    expect(paths(undefined, { ...address, PORTCULLIS_VAULT_TOKEN: "t" })).toEqual([]);
    expect(paths(undefined, { ...address, PORTCULLIS_VAULT_ROLE_ID: "r", PORTCULLIS_VAULT_SECRET_ID: "s" })).toEqual(
      [],
    );
    expect(paths("secrets: {key_file: k}", { PORTCULLIS_SECRETS_PASSPHRASE: "twelve chars" })).toEqual([
      "secrets.key_file",
    ]);
    expect(paths(undefined, { PORTCULLIS_DATABASE_APP_URL: "postgres://a:b@h/d" })).toEqual(["database.app_url"]);
    const login = { PORTCULLIS_DATABASE_LOGINS_OMS: "postgres://a:b@h/d" };
    expect(paths(undefined, login)).toEqual(["database.logins.oms"]);
    expect(paths(undefined, { ...login, PORTCULLIS_DATABASE_URL: "postgres://o:p@h/d" })).toEqual([]);
  });
});

describe("broken files", () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefgh"]
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${"abcdefg"[index]}`).join(",")}]`)
    .join("\n")}`;

  it.each<[name: string, text: string, words: RegExp]>([
    ["a key twice", "http:\n  port: 1\n  port: 2\n", /p\.yaml:3.*same key twice/],
    ["a tab", "http:\n\tport: 1\n", /p\.yaml:2.*tab/],
    ["two documents", "http: {port: 1}\n---\nhttp: {port: 2}\n", /second document/],
    ["a list at the top", "- a\n- b\n", /a list, expected a map/],
    ["a text at the top", "\n\nhello\n", /p\.yaml:3.*single value, expected a map/],
    ["an unclosed bracket", "http: {port: 1\n", /p\.yaml:1: found a \{ without its \}/],
    ["an alias bomb", bomb, /too many aliases/],
    ["an unknown alias", "\nhttp: *nobody\n", /p\.yaml:2: found an alias without an anchor/],
    ["a tag", "data_dir: !!js/function 'x'\n", /p\.yaml:1.*tag/],
    ["endless nesting", "[".repeat(100_000), /p\.yaml/],
    [
      "endless nesting by indentation",
      Array.from({ length: 600 }, (_, n) => `${" ".repeat(n)}a:`).join("\n"),
      /p\.yaml/,
    ],
    ["a huge file", "#".repeat(300_000), /at most 262144 characters/],
    ["a circle", "http: &a {port: *a}\n", /http\.port|alias/],
    ["__proto__", "__proto__: {http: 1}\n", /p\.yaml:1.*__proto__/],
    ["__proto__ in a map", "reports: {schedule: {__proto__: {cron: x}}}\n", /__proto__/],
    ["a map as a key", "? {a: 1}\n: 2\n", /p\.yaml/],
  ])("%s is a clear complaint", (_name, text, words) => {
    const lines = complaints(text).map(complaintLine);
    expect(lines.join("\n")).toMatch(words);
    expect(lines).toHaveLength(1);
  });

  it("a key twice does not hide the other mistakes, a broken file does not hide the environment's", () => {
    expect(paths("http: {port: 1, port: 2}\nlog: {level: x}\n")).toEqual(["p.yaml", "log.level"]);
    expect(paths("http: {", { PORTCULLIS_HTTP_PORT: "x", PORTCULLIS_SECRETS: "vault" })).toContain("http.port");
    expect(paths("http: {", { PORTCULLIS_SECRETS: "vault" })).not.toContain("secrets.vault.addr");
  });

  it.each<[code: string, words: readonly string[], line: string]>([
    ["ENOENT", ["--config", "/nope.yaml"], "there is no file /nope.yaml (named by --config)"],
    ["ENOENT", ["--config=/nope.yaml"], "there is no file /nope.yaml (named by --config)"],
    ["ENOENT", [], "there is no file gone.yaml (named by PORTCULLIS_CONFIG)"],
    [
      "ENOENT",
      ["--config=~/p.yaml"],
      "there is no file ~/p.yaml (named by --config); write the path out, for `~` means nothing here",
    ],
    ["EACCES", [], "the file gone.yaml (named by PORTCULLIS_CONFIG) may not be read by this user"],
    ["EISDIR", [], "the file gone.yaml (named by PORTCULLIS_CONFIG) is a folder, not a file"],
    ["EIO", [], "the file gone.yaml (named by PORTCULLIS_CONFIG) cannot be read: EIO"],
  ])("%s for %j is one sentence with the name once", (code, words, line) => {
    const loaded = loadConfiguration({
      environment: { PORTCULLIS_CONFIG: "gone.yaml" },
      arguments: words,
      readFile: (path) => {
        throw Object.assign(new Error(`${code}: something, open '${path}'`), { code });
      },
    });
    expect(loaded.ok ? [] : loaded.complaints.map(complaintLine)).toEqual([line]);
  });

  it.each([[["--config="]], [["--config", ""]], [["--config"]]])("%j names no file, and says so", (words) => {
    const loaded = loadConfiguration({ environment: {}, arguments: words, readFile: () => "" });
    expect(loaded.ok ? [] : loaded.complaints.map(complaintLine)).toEqual([
      "--config names no file: write --config FILE",
    ]);
  });
});

function raise(): never {
  throw new Error("the complaint is missing");
}
