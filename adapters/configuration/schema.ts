// Every key of the configuration, with its type, range, default, environment variable and sentence. Keys are spelt as they
// stand in the file. Rules that concern several keys at once are in checks/cross-checks.ts.
import { z } from "zod";
import { passphraseLengthMin } from "../secrets-file/store-key.ts";
import { audit } from "./audit-section.ts";
import { disk } from "./disk-section.ts";
import { identity } from "./identity-section.ts";
import { key } from "./key-facts.ts";
import { clearText, dayS, id, idExpected, path, pathExpected, section, text, usd, whole } from "./key-forms.ts";
import { languageModel } from "./language-model-section.ts";
import { market, paper, risk } from "./risk-section.ts";
import { bus } from "./sections/bus-section.ts";
import { compliance, filings } from "./sections/filings-section.ts";
import { reports } from "./sections/reports-section.ts";
import { research } from "./sections/research-section.ts";
import { tls } from "./sections/tls-section.ts";
import { tradingview } from "./tradingview-section.ts";
import {
  isAddressRange,
  isBaseUrl,
  isHost,
  isHostAndPort,
  isHttpUrl,
  isPostgresUrl,
  isTlsUrl,
  isVaultAddress,
} from "./value-forms.ts";
import { brokerExitReconciler, chat, drills, syntheticStop } from "./workers-section.ts";

export const serviceNames = ["riskengine", "operations", "oms", "treasury", "research", "gateway"] as const;

const port = (standard: number, environment: string, sentence: string) =>
  key(whole(0, 65_535).default(standard), {
    sentence,
    environment,
    expected: "a port: a whole number from 0 to 65535 (0 takes any free one)",
  });
const host = (environment: string, sentence: string) =>
  key(z.string().refine(isHost).default("127.0.0.1"), {
    sentence,
    environment,
    expected: "a host name or address to listen on, without a port",
  });

const addressRangeExpected = "an address such as 10.0.0.7 or a range such as 10.0.0.0/24, not every address there is";

const http = section({
  host: host("PORTCULLIS_HTTP_HOST", "Where both HTTP listeners listen."),
  port: port(8_080, "PORTCULLIS_HTTP_PORT", "The operators' port: API, login, web desks."),
  public_port: port(8_081, "PORTCULLIS_PUBLIC_PORT", "The public port: market data and webhooks."),
  base_url: key(z.string().refine(isBaseUrl).optional(), {
    sentence: "The address under which people reach the operators' port, for example behind a proxy that ends TLS.",
    environment: "PORTCULLIS_BASE_URL",
    expected: "a URL such as https://portcullis.example, without a path, credentials or query",
    whenAbsent: "`http.host` and `http.port`",
  }),
  public_url: key(z.string().refine(isBaseUrl).optional(), {
    sentence: "The address under which programs outside reach the public port, for example GitHub's deliveries.",
    environment: "PORTCULLIS_PUBLIC_URL",
    expected: "a URL such as https://hooks.portcullis.example, without a path, credentials or query",
    whenAbsent: "none; needed to install the repository bot",
  }),
  public_rate_per_s: key(whole(0, 1_000_000).default(20), {
    sentence: "Requests a second that one address may make of the public market data; 0 sets no limit.",
    environment: "PORTCULLIS_PUBLIC_RATE_PER_S",
  }),
  public_burst: key(whole(0, 1_000_000).default(40), {
    sentence: "Requests that one address may make at once after a pause, bars counting as five; 0 sets no limit.",
    environment: "PORTCULLIS_PUBLIC_BURST",
  }),
  trusted_proxies: key(
    z
      .array(
        key(z.string().refine(isAddressRange), {
          sentence: "A proxy's address.",
          expected: addressRangeExpected,
        }),
      )
      .max(256)
      .default([]),
    {
      sentence:
        "The proxies before us whose X-Forwarded-For is believed; only then are callers behind them distinguished. In the environment a comma-separated list.",
      environment: "PORTCULLIS_TRUSTED_PROXIES",
      expected: `a list of which each is ${addressRangeExpected}`,
    },
  ),
});

const grpc = section({
  host: host("PORTCULLIS_GRPC_HOST", "Where the gRPC services listen."),
  port: port(50_051, "PORTCULLIS_GRPC_PORT", "The risk engine's gRPC port."),
  operations_port: port(50_052, "PORTCULLIS_OPERATIONS_GRPC_PORT", "The operations service's gRPC port."),
  reflection: key(z.boolean().optional(), {
    sentence: "Whether anybody may read the schema of the gRPC services from them.",
    environment: "PORTCULLIS_GRPC_REFLECTION",
    whenAbsent: "true in development, false in production",
  }),
});

const rpcAddress = (name: string, whenAbsent: string) =>
  key(z.string().refine(isHostAndPort).optional(), {
    sentence: `Where ${name} answers gRPC: it listens there when it runs here, and the gateway looks for it there.`,
    environment: `PORTCULLIS_RPC_${name.toUpperCase()}`,
    expected: "host:port",
    whenAbsent,
  });

const socket = "a unix socket in the data folder";
const rpc = section({
  riskengine: rpcAddress("riskengine", "`grpc.host` and `grpc.port`"),
  operations: rpcAddress("operations", "`grpc.host` and `grpc.operations_port`"),
  oms: rpcAddress("oms", socket),
  treasury: rpcAddress("treasury", socket),
  research: rpcAddress("research", socket),
  insecure: key(z.boolean().default(false), {
    sentence:
      "Speak to services on other machines, and let them speak to those here, without certificates; banner and health say so.",
    environment: "PORTCULLIS_RPC_INSECURE",
  }),
});

const postgresUrl = (environment: string, sentence: string, whenAbsent: string) =>
  key(z.string().refine(isPostgresUrl).optional(), {
    sentence,
    environment,
    secrecy: "credentials",
    expected: "a URL such as postgres://user@host:5432/database",
    whenAbsent,
  });

const login = (name: string) =>
  postgresUrl(
    `PORTCULLIS_DATABASE_LOGINS_${name.toUpperCase()}`,
    `The same database as the login of ${name}, which an administrator made; the start grants it what ${name} needs.`,
    "made by the start, where `database.url` may create roles",
  );

const database = section({
  url: postgresUrl("PORTCULLIS_DATABASE_URL", "Your own PostgreSQL, as the owning role.", "the embedded PostgreSQL"),
  app_url: postgresUrl(
    "PORTCULLIS_DATABASE_APP_URL",
    "The same database as the app role, which cannot rewrite what is append-only.",
    "derived from `database.url`",
  ),
  logins: section({
    riskengine: login("riskengine"),
    operations: login("operations"),
    oms: login("oms"),
    treasury: login("treasury"),
    research: login("research"),
    gateway: login("gateway"),
    bots: login("bots"),
  }).prefault({}),
  ca_file: key(path().optional(), {
    sentence:
      "The authority of your PostgreSQL's certificate, as PEM; with it every connection is verified (verify-full), on this machine too.",
    environment: "PORTCULLIS_DATABASE_CA_FILE",
    expected: pathExpected("a file"),
    whenAbsent: "the authorities that Node.js knows",
  }),
  insecure: clearText("a PostgreSQL", "PORTCULLIS_DATABASE_INSECURE"),
});

const wholeSecret = (environment: string, sentence: string, charsMin = 1) =>
  key(text().min(charsMin).optional(), {
    sentence,
    environment,
    secrecy: "whole",
    expected: `text of ${charsMin} to 1024 characters`,
    whenAbsent: "none",
  });

const secrets = section({
  backend: key(z.enum(["file", "vault"]).default("file"), {
    sentence: "Where secrets are kept: an encrypted file, or HashiCorp Vault.",
    environment: "PORTCULLIS_SECRETS",
  }),
  prefix: key(
    z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
      .default("portcullis"),
    {
      sentence: "The second word of every secret's path, `secret/<prefix>/…`.",
      environment: "PORTCULLIS_SECRETS_PREFIX",
      expected: "1 to 64 letters, digits, dashes or underscores",
    },
  ),
  file: key(path().optional(), {
    sentence: "The encrypted file.",
    environment: "PORTCULLIS_SECRETS_FILE",
    expected: pathExpected("a file"),
    whenAbsent: "a file in the data folder",
  }),
  key_file: key(path().optional(), {
    sentence: "The file with the key of the encrypted file.",
    environment: "PORTCULLIS_SECRETS_KEY_FILE",
    expected: pathExpected("a file"),
    whenAbsent: "a file in the data folder, unless there is a passphrase",
  }),
  passphrase: wholeSecret(
    "PORTCULLIS_SECRETS_PASSPHRASE",
    "The passphrase of the encrypted file, instead of a key file.",
    passphraseLengthMin,
  ),
  vault: section({
    addr: key(z.string().refine(isVaultAddress).optional(), {
      sentence: "The address of Vault.",
      environment: "PORTCULLIS_VAULT_ADDR",
      secrecy: "credentials",
      expected: "a URL such as https://vault.example:8200, without credentials or query; http:// only to this machine",
      whenAbsent: "none; needed by the backend `vault`",
    }),
    namespace: key(text(256).optional(), {
      sentence: "The Vault namespace.",
      environment: "PORTCULLIS_VAULT_NAMESPACE",
      expected: "text of 1 to 256 characters",
      whenAbsent: "the root namespace",
    }),
    token: wholeSecret("PORTCULLIS_VAULT_TOKEN", "A Vault token."),
    role_id: wholeSecret("PORTCULLIS_VAULT_ROLE_ID", "The role id of an AppRole login."),
    secret_id: wholeSecret("PORTCULLIS_VAULT_SECRET_ID", "The secret id of an AppRole login."),
  }).prefault({}),
});

const log = section({
  level: key(z.enum(["debug", "info", "warn", "error", "silent"]).default("info"), {
    sentence: "The least important line that is still written.",
    environment: "PORTCULLIS_LOG_LEVEL",
  }),
  format: key(z.enum(["json", "pretty", "auto"]).default("auto"), {
    sentence: "One line of JSON, readable lines, or readable only on a terminal.",
    environment: "PORTCULLIS_LOG_FORMAT",
  }),
});

const telemetry = section({
  otlp_endpoint: key(z.string().refine(isHttpUrl).optional(), {
    sentence: "The OpenTelemetry collector (OTLP over HTTP) that gets our spans.",
    environment: "OTEL_EXPORTER_OTLP_ENDPOINT",
    secrecy: "credentials",
    expected: "a URL such as http://localhost:4318",
    whenAbsent: "no spans",
  }),
  insecure: clearText("a collector", "PORTCULLIS_TELEMETRY_INSECURE"),
});

const lifecycle = section({
  start_timeout_s: key(whole(1, 3_600).default(60), { sentence: "How long a service may take to become ready." }),
  drain_timeout_s: key(whole(1, 300).default(8), { sentence: "How long a stop may take before it becomes a kill." }),
  restart_backoff_first_ms: key(whole(1, 600_000).default(100), { sentence: "The wait before the first restart." }),
  restart_backoff_max_ms: key(whole(1, 600_000).default(2_000), { sentence: "The longest wait before a restart." }),
  restart_failures_max: key(whole(1, 1_000).default(10), {
    sentence:
      "Starts that fail in a row after which a service, or the database, counts as down: the platform goes on without it and tries again ten times as seldom.",
  }),
  restart_steady_s: key(whole(1, dayS).default(10), {
    sentence: "A service that was up this long is started again without a longer wait than the first.",
  }),
});

const fundPublic = section({
  listed: key(z.boolean().default(true), { sentence: "Whether the public API lists the fund and its halts." }),
  nav: key(z.enum(["live", "delayed", "hidden"]).optional(), {
    sentence: "Whether the public API shows what the fund is worth, and whether at once.",
    whenAbsent: "live for a PAPER fund, hidden for a LIVE one",
  }),
  nav_delay_s: key(whole(1, 30 * dayS).default(900), { sentence: "How old a delayed value is at least, in seconds." }),
  exposure: key(z.boolean().optional(), {
    sentence: "Whether the public API shows how much of the fund is at work.",
    whenAbsent: "true for a PAPER fund, false for a LIVE one",
  }),
});

const fund = section({
  fund_id: key(id(), { sentence: "The fund's id.", expected: idExpected }),
  public: fundPublic.prefault({}),
  compliance: compliance.prefault({}),
});

const cost = (sentence: string) => key(usd().optional(), { sentence, whenAbsent: "not an expensive action" });

const githubBot = section({
  api_url: key(z.string().refine(isTlsUrl).default("https://api.github.com"), {
    sentence: "Where GitHub's API answers: another one for GitHub Enterprise Server.",
    environment: "PORTCULLIS_GITHUB_API_URL",
    expected: "a URL that begins with https://; http:// only to this machine",
  }),
  daily_usd: key(usd().default(5), { sentence: "What the repository bot may spend a day, in USD." }),
  per_repo_daily_cap: key(usd().default(1), { sentence: "What it may spend a day on one repository, in USD." }),
  expensive_actions: section({
    triager: cost("Cost of one action of the triager, in USD."),
    code_reviewer: cost("Cost of one action of the code reviewer, in USD."),
    bug_fixer: key(usd().default(0.2), { sentence: "Cost of one action of the bug fixer, in USD." }),
  }).prefault({}),
});

const bots = section({
  isolation: key(z.enum(["best", "namespaces"]).default("best"), {
    sentence:
      "How what reads hostile text is kept apart: as well as this machine can, or in namespaces of its own or not at all.",
    environment: "PORTCULLIS_BOTS_ISOLATION",
  }),
});

const chatBot = section({
  daily_usd: key(usd().default(3), { sentence: "What the chat bot may spend a day, in USD." }),
  per_channel_daily_cap_usd: key(usd().default(1), { sentence: "What it may spend a day in one channel, in USD." }),
  cooldown_per_user_seconds: key(whole(0, dayS).default(30), { sentence: "Seconds between two commands of one user." }),
});

export const configurationSchema = z.strictObject({
  mode: key(z.enum(["production", "development"]).default("development"), {
    sentence:
      "Development has operators whose passwords lie in a file, and listens on this machine only; production has neither.",
    environment: "PORTCULLIS_MODE",
  }),
  insecure: key(z.boolean().default(false), {
    sentence:
      "Listen beyond this machine without TLS where there is no `tls.cert_file`; the banner and every health answer say so.",
    environment: "PORTCULLIS_INSECURE",
  }),
  data_dir: key(path().default(".portcullis"), {
    sentence: "The folder for everything that is kept on disk.",
    environment: "PORTCULLIS_DATA_DIR",
    expected: pathExpected("a folder"),
  }),
  library_internals: key(z.boolean().default(true), {
    sentence: "Whether grpc-js and pg are reached behind their interfaces, as the pinned versions allow.",
    environment: "PORTCULLIS_LIBRARY_INTERNALS",
  }),
  services: key(
    z
      .array(z.enum(serviceNames))
      .min(1)
      .default([...serviceNames]),
    {
      sentence: "Which services run here; in the environment a comma-separated list.",
      environment: "PORTCULLIS_SERVICES",
    },
  ),
  http: http.prefault({}),
  grpc: grpc.prefault({}),
  rpc: rpc.prefault({}),
  tls: tls.prefault({}),
  database: database.prefault({}),
  bus: bus.prefault({}),
  identity: identity.prefault({}),
  secrets: secrets.prefault({}),
  log: log.prefault({}),
  telemetry: telemetry.prefault({}),
  lifecycle: lifecycle.prefault({}),
  disk: disk.prefault({}),
  audit: audit.prefault({}),
  risk: risk.prefault({}),
  market: market.prefault({}),
  research: research.prefault({}),
  paper: paper.prefault({}),
  language_model: languageModel.prefault({}),
  synthetic_stop: syntheticStop.prefault({}),
  broker_exit_reconciler: brokerExitReconciler.prefault({}),
  drills: drills.prefault({}),
  chat: chat.prefault({}),
  tradingview: tradingview.prefault({}),
  fund: fund.optional(),
  funds: z.array(fund).default([]),
  github_bot: githubBot.prefault({}),
  bots: bots.prefault({}),
  chat_bot: chatBot.prefault({}),
  reports: reports.prefault({}),
  filings: filings.prefault({}),
});

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T;
/** The configuration in force. A single `fund:` of the file is the only member of `funds` here. */
export type Configuration = DeepReadonly<Omit<z.output<typeof configurationSchema>, "fund">>;
