// The forms that a configuration value can have beyond its type: hosts, paths, URLs, cron lines. Each answers yes or no; what was
// expected is said by the key.
import { isIP } from "node:net";

export function isHost(text: string): boolean {
  return /^[A-Za-z0-9_.:%[\]-]{1,255}$/.test(text) && !/^[^:]*:\d*$/.test(text);
}

/** An address, or a range in CIDR form. A range of everything would let anybody say who they are. */
export function isAddressRange(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || address.includes("%") || rest.length > 0) return false;
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

export function isHostAndPort(text: string): boolean {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  return host !== undefined && isHost(host) && Number(port) <= 65_535;
}

/** The two parts of a valid `host:port`; an IPv6 address may stand in brackets. */
export function hostAndPortOf(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

/** True when two listeners on these hosts cannot have the same port. */
export function hostsOverlap(left: string, right: string): boolean {
  const [one, other] = [left, right].map((host) => host.toLowerCase().replace(/^\[(.*)\]$/, "$1")).sort();
  if (one === undefined || other === undefined || one === other) return true;
  const hosts = [one, other];
  // "::" takes the port for IPv4 too; "0.0.0.0" leaves it to IPv6, whose addresses are those with a colon.
  if (hosts.includes("::")) return true;
  if (hosts.includes("0.0.0.0")) return !hosts.some((host) => host.includes(":"));
  return hosts.includes("localhost") && (hosts.includes("127.0.0.1") || hosts.includes("::1"));
}

function urlOf(text: string): URL | undefined {
  return text.length <= 4_096 && URL.canParse(text) ? new URL(text) : undefined;
}

export function isHttpUrl(text: string): boolean {
  const url = urlOf(text);
  return url !== undefined && ["http:", "https:"].includes(url.protocol) && url.hostname !== "";
}

/** A path that means the same to every program: no `~`, which only a shell understands, and nothing that ends a line. */
export function isPath(text: string): boolean {
  return text.length >= 1 && text.length <= 4_096 && !text.startsWith("~") && !/[\p{Cc}\u2028\u2029]/u.test(text);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** A host to listen on that only this machine reaches. A name is not looked up: what it means may change. */
export function isLoopbackHost(host: string): boolean {
  const plain = bareHost(host);
  return plain === "::1" || isLoopback(plain);
}

/** A host that stands for all addresses of this machine, and so for none that somebody could call. */
export function isEveryAddress(host: string): boolean {
  const plain = bareHost(host);
  return /^[0.]+$/.test(plain) || /^[0:]+$/.test(plain) || /^::ffff:(0\.0\.0\.0|0:0)$/.test(plain);
}

function bareHost(host: string): string {
  return host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
}

/** With TLS, and without it only within this machine; no credentials, query or fragment. */
export function isTlsUrl(text: string): boolean {
  return isVaultAddress(text);
}

/** As the Vault adapter has it: in the clear only within this machine, for everybody in between could read the secrets. */
export function isVaultAddress(text: string): boolean {
  const url = urlOf(text);
  if (url === undefined || !isHttpUrl(text)) return false;
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") return false;
  if (isEveryAddress(url.hostname)) return false;
  return url.protocol === "https:" || isLoopback(url.hostname);
}

/** As OIDC has it: no query, no fragment; in the clear only within this machine, where nobody stands in between. */
export function isIssuerUrl(text: string): boolean {
  return isVaultAddress(text);
}

/** Scheme, host and port only, because paths are ours to choose. */
export function isBaseUrl(text: string): boolean {
  const url = urlOf(text);
  if (url === undefined || !isHttpUrl(text) || isEveryAddress(url.hostname)) return false;
  return text === url.origin || text === `${url.origin}/`;
}

/** The host may be missing: a unix socket folder is named in the query, as PostgreSQL's own tools allow. */
export function isPostgresUrl(text: string): boolean {
  const url = urlOf(text);
  return url !== undefined && ["postgres:", "postgresql:"].includes(url.protocol) && text.includes("://");
}

export function isBusUrl(text: string): boolean {
  return text.split(",").every((part) => {
    const url = urlOf(part.trim());
    if (url === undefined || !["nats:", "tls:"].includes(url.protocol) || url.hostname === "") return false;
    // A path or a query means nothing to NATS: it is a slip, perhaps a password with an unencoded slash.
    return ["", "/"].includes(url.pathname) && url.search === "" && url.hash === "";
  });
}

/** True when a URL, or one of several, has a password or, on the bus, a token in it. */
export function hasCredentials(text: string): boolean {
  return text.split(",").some((part) => {
    const url = urlOf(part.trim());
    if (url === undefined) return part.includes("@");
    const nameIsSecret = !url.protocol.startsWith("postgres") && url.username !== "";
    const inQuery = [...url.searchParams.keys()].some((name) => /pass|secret|token|key/i.test(name));
    return nameIsSecret || url.password !== "" || inQuery || hasLateAt(url);
  });
}

/** An "@" behind the host means that a password with an unencoded slash was taken for a path. */
function hasLateAt(url: URL): boolean {
  return `${url.pathname}${url.search}${url.hash}`.includes("@");
}

/** The server part of a URL, for showing: scheme, host and port, never a name, password, path or query. */
export function serverOf(text: string): string {
  const servers = text.split(",").map((part) => {
    const url = urlOf(part.trim());
    return url === undefined || url.host === "" || hasLateAt(url) ? undefined : `${url.protocol}//${url.host}`;
  });
  return servers.includes(undefined) ? "(not shown)" : servers.join(",");
}

const months = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const weekdays = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

interface CronField {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const cronFields: readonly CronField[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 7, names: weekdays },
];

/** Five fields: minute, hour, day of month, month, day of week; `*`, numbers, names, ranges, lists and steps. */
export function isCron(text: string): boolean {
  const fields = text.trim().split(/[ \t]+/);
  if (text.length > 256 || fields.length !== cronFields.length) return false;
  return cronFields.every((field, index) => (fields[index] ?? "").split(",").every((part) => isCronPart(part, field)));
}

function isCronPart(part: string, field: CronField): boolean {
  const match = /^(?:(\*)|([A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?)(?:\/(\d{1,2}))?$/.exec(part);
  if (match === null) return false;
  const [, star, from, to, step] = match;
  if (step !== undefined && (Number(step) < 1 || (star === undefined && to === undefined))) return false;
  if (star !== undefined) return true;
  const first = cronNumber(from ?? "", field);
  const last = to === undefined ? first : cronNumber(to, field);
  return first !== undefined && last !== undefined && first <= last;
}

function cronNumber(word: string, field: CronField): number | undefined {
  const named = field.names.indexOf(word.toUpperCase());
  if (named >= 0) return named + field.min;
  if (!/^\d{1,2}$/.test(word)) return undefined;
  const number = Number(word);
  return number >= field.min && number <= field.max ? number : undefined;
}
