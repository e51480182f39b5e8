// What must be said before anything listens beyond this machine: that this is production, and its certificate, or that there is no TLS. A host that is
// every address is nobody's address: it is never announced to those who log in.

import { type Complaint, complaintAt } from "../complaint.ts";
import type { Configuration } from "../schema.ts";
import { type Path, pathText } from "../schema-tree.ts";
import { type Tree, valueAt } from "../tree.ts";
import { hostAndPortOf, isEveryAddress, isHost, isHostAndPort, isLoopbackHost } from "../value-forms.ts";
import { type CheckInput, complain, effective } from "./check-input.ts";
import { type Listener, listenersHere } from "./listeners-here.ts";

/** What is no host has a complaint of its own. */
const isExposed = ({ host }: Listener): boolean => isHost(host) && !isLoopbackHost(host);

const productionLine = "`mode: production` in the file, or PORTCULLIS_MODE=production";

/** Until there was a mode this variable was one: an installation that relied on it must not slip back into development. */
export function modeIsSaid(input: CheckInput): readonly Complaint[] {
  const isMeant = input.environment["NODE_ENV"] === "production";
  if (!isMeant || valueAt(input.tree, ["mode"]) !== undefined) return [];
  const expected = `${productionLine}, because NODE_ENV=production does not decide it any more (or PORTCULLIS_MODE=development)`;
  return [complaintAt(["mode"], { value: "missing", expected, where: "environment NODE_ENV" })];
}

export function beyondThisMachine(input: CheckInput): readonly Complaint[] {
  const beyond = listenersHere(input).find(isExposed);
  if (beyond === undefined) return [];
  const isSet = (name: string): boolean => valueAt(input.tree, ["tls", name]) !== undefined;
  const bare = listenersHere(input).find((listener) => {
    const isHttp = listener.hostPath[0] === "http";
    return isExposed(listener) && !isSet("cert_file") && (isHttp || !isSet("peer_cert_file"));
  });
  const why = `because ${pathText(beyond.hostPath)} (${beyond.host}) is reached from other machines`;
  const complaints: Complaint[] = [];
  if (effective(input, ["mode"]) !== "production") {
    complaints.push(complain(input, ["mode"], `${productionLine}, ${why}; or listen on 127.0.0.1`));
  }
  if (bare !== undefined && effective(input, ["insecure"]) !== true) {
    const expected = `a certificate (PORTCULLIS_TLS_CERT_FILE and PORTCULLIS_TLS_KEY_FILE), ${why}; or \`insecure: true\` (PORTCULLIS_INSECURE=true) for clear text, or listen on 127.0.0.1 behind a proxy that ends TLS`;
    complaints.push(complain(input, ["tls", "cert_file"], expected));
  }
  return complaints;
}

/** What another machine is asked over must prove itself to it, and it to us. */
export function servicesElsewhere(input: CheckInput): readonly Complaint[] {
  const peers = ["peer_ca_file", "peer_cert_file", "peer_key_file"].map((name): Path => ["tls", name]);
  const missing = peers.find((path) => valueAt(input.tree, path) === undefined);
  if (missing === undefined) return [];
  const there = peers.find((path) => valueAt(input.tree, path) !== undefined);
  if (there !== undefined) return [complain(input, missing, `a file as well, because ${pathText(there)} is set`)];
  const away = awayServices(input);
  if (away === undefined || effective(input, ["rpc", "insecure"]) === true) return [];
  const why = `because rpc.${away.name} (${away.host}) is another machine`;
  const expected = `the authority of our own processes' certificates (and tls.peer_cert_file, tls.peer_key_file), ${why}; or \`rpc.insecure: true\` (PORTCULLIS_RPC_INSECURE=true) for clear text`;
  return [complain(input, missing, expected)];
}

/** The first service that runs on another machine, as far as the keys say it. */
export function awayServices(input: CheckInput): { readonly name: string; readonly host: string } | undefined {
  const services = effective(input, ["services"]);
  return serviceNames
    .filter((name) => Array.isArray(services) && !services.includes(name))
    .flatMap((name) => {
      const address = valueAt(input.tree, ["rpc", name]);
      if (typeof address !== "string" || !isHostAndPort(address)) return [];
      const { host } = hostAndPortOf(address);
      return isLoopbackHost(host) ? [] : [{ name, host }];
    })[0];
}

const serviceNames = ["riskengine", "operations", "oms", "treasury", "research"];

/** One file is of no use without the other, and tokens that name an address in clear text would be sent there. */
export function wholeTls(input: CheckInput): readonly Complaint[] {
  const cert: Path = ["tls", "cert_file"];
  const key: Path = ["tls", "key_file"];
  const isSet = (path: Path): boolean => valueAt(input.tree, path) !== undefined;
  if (isSet(cert) !== isSet(key)) {
    const [missing, there] = isSet(cert) ? [key, cert] : [cert, key];
    return [complain(input, missing, `a file as well, because ${pathText(there)} is set`)];
  }
  const base = valueAt(input.tree, ["http", "base_url"]);
  if (!isSet(cert) || typeof base !== "string" || !base.startsWith("http://")) return [];
  return [complain(input, ["http", "base_url"], "an address that begins with https://, because tls.cert_file is set")];
}

/** The first host of a configuration in force that other machines reach; undefined when there is none. */
export function exposedHost(configuration: Configuration): string | undefined {
  const input = { tree: configuration as unknown as Tree, environment: {}, whereIs: () => "" };
  return listenersHere(input).find(isExposed)?.host;
}

/** The address of the operators' port stands in tokens and on pages. */
export function addressToAnnounce(input: CheckInput): readonly Complaint[] {
  const services = effective(input, ["services"]);
  const host = effective(input, ["http", "host"]);
  const isHere = Array.isArray(services) && services.includes("gateway");
  if (!isHere || typeof host !== "string" || !isEveryAddress(host)) return [];
  if (valueAt(input.tree, ["http", "base_url"]) !== undefined) return [];
  const expected = `the address under which people reach the operators' port (PORTCULLIS_BASE_URL), because http.host (${host}) is every address and no issuer`;
  return [complain(input, ["http", "base_url"], expected)];
}
