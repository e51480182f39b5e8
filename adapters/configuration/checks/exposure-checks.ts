// What must be said before anything listens beyond this machine: that this is production, and that there is no TLS. A host that is
// every address is nobody's address: it is never announced to those who log in.

import { type Complaint, complaintAt } from "../complaint.ts";
import type { Configuration } from "../schema.ts";
import { pathText } from "../schema-tree.ts";
import { type Tree, valueAt } from "../tree.ts";
import { isEveryAddress, isHost, isLoopbackHost } from "../value-forms.ts";
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
  const why = `because ${pathText(beyond.hostPath)} (${beyond.host}) is reached from other machines`;
  const complaints: Complaint[] = [];
  if (effective(input, ["mode"]) !== "production") {
    complaints.push(complain(input, ["mode"], `${productionLine}, ${why}; or listen on 127.0.0.1`));
  }
  if (effective(input, ["insecure"]) !== true) {
    const expected = `true (PORTCULLIS_INSECURE=true), ${why} and there is no TLS; or listen on 127.0.0.1 behind a proxy that ends TLS`;
    complaints.push(complain(input, ["insecure"], expected));
  }
  return complaints;
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
