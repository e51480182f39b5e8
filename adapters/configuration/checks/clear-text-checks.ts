// Connections of ours to other machines: in clear text everybody in between could read and change what they carry, so each is refused unless its own
// `insecure` says that it is meant. Vault and the issuer of tokens have no such word: there it is never right. Witnesses get nothing secret, and what
// they answer is signed.
import type { Complaint } from "../complaint.ts";
import { type Configuration, serviceNames } from "../schema.ts";
import { nodeAt, type Path, pathText } from "../schema-tree.ts";
import { type Tree, valueAt } from "../tree.ts";
import { isBusUrl, isHttpUrl, isLoopbackHost, isPostgresUrl } from "../value-forms.ts";
import { type CheckInput, complain, effective } from "./check-input.ts";
import { awayServices } from "./exposure-checks.ts";

interface Connection {
  /** The key that says where it leads. */
  readonly path: Path;
  /** The key that allows clear text. */
  readonly insecure: Path;
  /** What to write instead. */
  readonly instead: string;
  isClear(address: string, input: CheckInput): boolean;
}

const postgres = (path: Path, insecure: Path): Connection => ({
  path,
  insecure,
  instead: "without an sslmode, which means verify-full there, or with sslmode=verify-full",
  isClear: (address) => isPostgresUrl(address) && isClearPostgres(address),
});
const http = (section: string, name: string): Connection => ({
  path: [section, name],
  insecure: [section, "insecure"],
  instead: "with https://",
  isClear: (address) => isHttpUrl(address) && isClearUrl(address, "http:"),
});

const connections: readonly Connection[] = [
  postgres(["database", "url"], ["database", "insecure"]),
  postgres(["database", "app_url"], ["database", "insecure"]),
  ...[...serviceNames, "bots"].map((name) => postgres(["database", "logins", name], ["database", "insecure"])),
  postgres(["audit", "anchor_database_url"], ["database", "insecure"]),
  {
    path: ["bus", "url"],
    insecure: ["bus", "insecure"],
    instead: "with tls://, or with bus.tls_ca_file",
    isClear: (address, input) =>
      isBusUrl(address) &&
      valueAt(input.tree, ["bus", "tls_ca_file"]) === undefined &&
      !address.includes("tls://") &&
      address.split(",").some((one) => isClearUrl(one.trim(), "nats:")),
  },
  http("telemetry", "otlp_endpoint"),
  http("language_model", "base_url"),
  http("chat", "base_url"),
  {
    path: ["reports", "storage", "endpoint"],
    insecure: ["reports", "storage", "insecure"],
    instead: "with https://",
    isClear: (address) => isHttpUrl(address) && isClearUrl(address, "http:"),
  },
  {
    path: ["reports", "email", "host"],
    insecure: ["reports", "email", "insecure"],
    instead: "with `reports.email.tls: starttls` or `implicit`",
    isClear: (host, input) => effective(input, ["reports", "email", "tls"]) === "none" && !isLoopbackHost(host),
  },
];

function isClearUrl(address: string, scheme: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && url.protocol === scheme && !isLoopbackHost(url.hostname);
}

/** As adapters/postgres/connection.ts reads it. */
function isClearPostgres(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined) return false;
  const host = url.searchParams.get("host") ?? url.hostname;
  if (host === "" || /^(\/|%2f)/i.test(host) || isLoopbackHost(host)) return false;
  const mode = url.searchParams.get("sslmode") ?? "verify-full";
  return mode !== "verify-full" && mode !== "verify-ca" && !(mode === "require" && url.searchParams.has("sslrootcert"));
}

/** Those that lead to another machine in clear text, or to one that does not have to prove itself. */
function clearOnes(input: CheckInput): readonly Connection[] {
  return connections.filter(({ path, isClear }) => {
    const address = effective(input, path);
    return typeof address === "string" && isClear(address, input);
  });
}

export function noClearText(input: CheckInput): readonly Complaint[] {
  return clearOnes(input).flatMap(({ path, insecure, instead }) => {
    if (effective(input, insecure) === true) return [];
    const variable = nodeAt(insecure)?.facts?.environment;
    const expected = `an address on this machine, or one ${instead}; or \`${pathText(insecure)}: true\` (${variable}=true) for clear text to another machine`;
    return [complain(input, path, expected)];
  });
}

/** What a configuration in force allows in clear text, each as the key that allows it. */
export function allowedClearText(configuration: Configuration): readonly string[] {
  const input: CheckInput = { tree: configuration as unknown as Tree, environment: {}, whereIs: () => "" };
  const keys = clearOnes(input).map(({ insecure }) => pathText(insecure));
  const isAway = configuration.rpc.insecure && configuration.tls.peer_ca_file === undefined;
  if (isAway && awayServices(input) !== undefined) keys.push("rpc.insecure");
  return [...new Set(keys)];
}
