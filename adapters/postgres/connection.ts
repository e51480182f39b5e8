// Where the database is and how to talk to it. A target is plain data, so that the supervisor can hand it to the services
// through their environment; what cannot be data (type parsers, error handlers) is added here when a connection is made.
//
// What every connection made here promises:
//  1. An int8 or numeric arrives as a string and a timestamp as PostgreSQL's own text: nothing is rounded on the way.
//  2. A connection that breaks, idle or in use, is logged; it never ends the process.
import { readFileSync } from "node:fs";
import pg from "pg";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import { isLoopbackHost } from "../configuration/value-forms.ts";

/** The schema that holds everything of ours, so that a shared database is not littered. */
export const schemaName = "portcullis";
/** The role that services work under; what it may do is granted table by table in the migrations. */
export const appRoleName = "portcullis_app";

interface TlsTarget {
  readonly rejectUnauthorized: boolean;
  /** Whose certificate is expected, also where it is an address: the driver names only names. */
  readonly host?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** A pg client configuration that survives JSON. */
export interface ConnectionTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly password?: string;
  readonly ssl?: false | TlsTarget;
  /** Settings of the session, in the form of the startup packet: `-c name=value`. */
  readonly options: string;
}

export interface DatabaseAddress {
  /** Owns the schema; migrations run as this. */
  readonly owner: ConnectionTarget;
  /** What services use: it cannot change what is append-only. */
  readonly app: ConnectionTarget;
  /** For people; contains no password. */
  readonly description: string;
}

interface ConnectionOptions {
  readonly log: Log;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Default 5,000. */
  readonly connectMsMax?: number;
  /** A statement that runs longer is cancelled by the server; absent = no limit. */
  readonly statementMsMax?: number;
  /** A connection on which a statement has no answer after this long is given up and closed; absent = no limit. */
  readonly answerMsMax?: number;
}

interface PoolOptions extends ConnectionOptions {
  /** Default 10. */
  readonly sizeMax?: number;
  /** An idle connection is closed after this long; default 30,000. */
  readonly idleMsMax?: number;
}

/** For services: longer than any statement of theirs takes, shorter than the server needs to miss a lost client. */
export const answerMsMaxOfServices = 10_000;

const ownerOptions = `-c search_path=${schemaName}`;
/**
 * What services rely on, whatever the server's own defaults are: a commit is on disk before it is answered, a client that
 * vanished is noticed within seconds (its locks and leaderships are free then), a forgotten transaction does not hold back
 * everybody. A unix socket has no use for the tcp settings and the server ignores them there.
 */
const sessionOptions = [
  "synchronous_commit=on",
  "idle_in_transaction_session_timeout=30000",
  "tcp_keepalives_idle=5",
  "tcp_keepalives_interval=2",
  "tcp_keepalives_count=3",
  "tcp_user_timeout=10000",
]
  .map((setting) => `-c ${setting}`)
  .join(" ");
const serviceOptions = `${ownerOptions} ${sessionOptions}`;
const appOptions = `${serviceOptions} -c role=${appRoleName}`;

/** What is asked of a server's certificate beside what its URL says. */
export interface DatabaseSecurity {
  /** The authority that it must come from. */
  readonly ca_file?: string | undefined;
  /** Whether a server on another machine may speak clear text, or not prove itself. */
  readonly insecure?: boolean;
}

/** The address of a server of the user's. Without a login of its own the app side shares the owner's and takes the role. */
export function addressFromUrl(url: string, appUrl?: string, security: DatabaseSecurity = {}): DatabaseAddress {
  const owner = targetFromUrl("PORTCULLIS_DATABASE_URL", url, ownerOptions, security);
  const app = targetFromUrl("PORTCULLIS_DATABASE_APP_URL", appUrl ?? url, appOptions, security);
  return { owner, app, description: describeTarget(owner) };
}

/** The address of the server that we run ourselves: both roles log in by peer over its unix socket. */
export function addressOfSocket(socketFolder: string, port: number, ownerRole: string): DatabaseAddress {
  const place = { host: socketFolder, port, database: schemaName, options: ownerOptions };
  const owner = { ...place, user: ownerRole };
  return { owner, app: { ...place, user: appRoleName, options: serviceOptions }, description: describeTarget(owner) };
}

/** The same server and database for a login of its own; certificates by which the owner logs in stay with the owner. */
export function loginTarget(owner: ConnectionTarget, user: string, password: string): ConnectionTarget {
  const { host, port, database, ssl } = owner;
  return { host, port, database, user, password, ...withoutKey(ssl), options: `${owner.options} ${sessionOptions}` };
}

function withoutKey(ssl: ConnectionTarget["ssl"]): Pick<ConnectionTarget, "ssl"> {
  if (typeof ssl !== "object") return ssl === undefined ? {} : { ssl };
  const { cert: _cert, key: _key, ...kept } = ssl;
  return { ssl: kept };
}

/** A login of a service, as its URL names it. */
export function loginFromUrl(variable: string, url: string, security: DatabaseSecurity = {}): ConnectionTarget {
  return targetFromUrl(variable, url, serviceOptions, security);
}

/** The same server and logins, another database. */
export function withDatabase(address: DatabaseAddress, database: string): DatabaseAddress {
  const owner = { ...address.owner, database };
  return { owner, app: { ...address.app, database }, description: describeTarget(owner) };
}

function describeTarget(target: ConnectionTarget): string {
  const place = target.host.startsWith("/") ? `socket ${target.host}` : `${target.host}:${target.port}`;
  return `PostgreSQL database ${target.database} at ${place} as ${target.user}`;
}

/** Nothing of the URL itself is repeated in a complaint: a password may stand anywhere in a malformed one. */
export function targetFromUrl(
  variable: string,
  text: string,
  options: string,
  security: DatabaseSecurity = {},
): ConnectionTarget {
  const url = parseUrl(variable, text);
  const query = url.searchParams;
  const host = query.get("host") ?? decode(variable, url.hostname).replace(/^\[(.*)\]$/, "$1");
  const user = query.get("user") ?? decode(variable, url.username);
  const database = query.get("dbname") ?? decode(variable, url.pathname.slice(1));
  const portText = query.get("port") ?? (url.port === "" ? "5432" : url.port);
  const port = Number(portText);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw complaint(variable, "names a port that is not a number from 1 to 65535");
  }
  if (host === "") throw complaint(variable, "names no host");
  if (user === "") throw complaint(variable, "names no user");
  if (database === "") throw complaint(variable, "names no database");
  const password = query.get("password") ?? decode(variable, url.password);
  const extra = query.get("options");
  return {
    host,
    port,
    user,
    database,
    ...(password === "" ? {} : { password }),
    ssl: tlsFromQuery(variable, query, host, security),
    options: extra === null ? options : `${extra} ${options}`,
  };
}

function parseUrl(variable: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "postgres:" && url.protocol !== "postgresql:")) {
    throw complaint(variable, "is not a URL of the form postgres://user:password@host:5432/database");
  }
  return url;
}

function decode(variable: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The cause is left out on purpose: its message could repeat the password.
    throw complaint(variable, "contains a % that does not begin an escape; write %25 for a percent sign");
  }
}

/**
 * libpq's words. `prefer` and `allow` need a second try in clear text, which the driver does not make: clear text it is. Who says nothing gets
 * clear text within this machine, and verify-full beyond it or where an authority is named; less than that to another machine must be allowed.
 */
function tlsFromQuery(
  variable: string,
  query: URLSearchParams,
  host: string,
  { ca_file: caFile, insecure = false }: DatabaseSecurity,
): false | TlsTarget {
  const isHere = host.startsWith("/") || isLoopbackHost(host);
  const isVerified = host.startsWith("/") ? false : !isHere || caFile !== undefined;
  const mode = query.get("sslmode") ?? (isVerified ? "verify-full" : "prefer");
  const ca = readPem(variable, query.get("sslrootcert") ?? caFile ?? null);
  const cert = readPem(variable, query.get("sslcert"));
  const key = readPem(variable, query.get("sslkey"));
  const files = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  if (mode === "verify-ca" || mode === "verify-full") return { rejectUnauthorized: true, host, ...files };
  if (mode === "require" && ca !== undefined) return { rejectUnauthorized: true, host, ...files };
  if (!["disable", "allow", "prefer", "require", "no-verify"].includes(mode)) {
    throw complaint(variable, "has an sslmode other than disable, allow, prefer, require, verify-ca or verify-full");
  }
  if (!isHere && !insecure) {
    const instead = "write sslmode=verify-full or nothing, or allow it with database.insecure";
    throw complaint(
      variable,
      `names another machine with sslmode=${mode}, which does not prove who answers: ${instead}`,
    );
  }
  return mode === "require" || mode === "no-verify" ? { rejectUnauthorized: false, ...files } : false;
}

function readPem(variable: string, path: string | null): string | undefined {
  if (path === null || path === "system") return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw complaint(variable, `names a certificate file that cannot be read (${messageOf(error)})`);
  }
}

function complaint(variable: string, sentence: string): Fault {
  return new Fault("CONFIGURATION_INVALID", `${variable} ${sentence}.`, { retry: "never", facts: { variable } });
}

const oid = { date: 1082, timestamp: 1114, timestamptz: 1184, interval: 1186 } as const;
const arrayOid = { date: 1182, timestamp: 1115, timestamptz: 1185, interval: 1187, int8: 1016, numeric: 1231 } as const;
const textArrayOid = 1009;
const keptAsText: ReadonlySet<number> = new Set(Object.values(oid));
const keptAsTextArray: ReadonlySet<number> = new Set(Object.values(arrayOid));

const exactTypes: pg.CustomTypesConfig = {
  getTypeParser(id: number, format?: "text" | "binary") {
    if (format === "binary") return pg.types.getTypeParser(id, "binary");
    if (keptAsText.has(id)) return (text: string) => text;
    return pg.types.getTypeParser(keptAsTextArray.has(id) ? textArrayOid : id, "text");
  },
};

function clientConfig(target: ConnectionTarget, options: ConnectionOptions): pg.ClientConfig {
  return {
    ...target,
    types: exactTypes,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectMsMax ?? 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    // Statements leave without waiting for the answers to earlier ones: a transaction's last inserts and its COMMIT go together.
    pipeline: true,
    ...(options.statementMsMax === undefined ? {} : { statement_timeout: options.statementMsMax }),
    // With a pipeline the driver ends the connection at this limit: an answer that comes later could not be told from the next one's.
    ...(options.answerMsMax === undefined ? {} : { query_timeout: options.answerMsMax }),
  };
}

/** A bounded pool. Close it with `end()`. */
export function openPool(target: ConnectionTarget, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...clientConfig(target, options),
    max: options.sizeMax ?? 10,
    idleTimeoutMillis: options.idleMsMax ?? 30_000,
  });
  // The pool itself listens only while a client is idle; one that breaks in use would otherwise end the process.
  pool.on("connect", (client) => {
    client.on("error", (error) => options.log.warn("database connection lost", { reason: messageOf(error) }));
  });
  pool.on("error", (error) => options.log.debug("idle database connection removed", { reason: messageOf(error) }));
  return pool;
}

/** One connection, for a session that must not be shared (LISTEN, advisory locks). Close it with `end()`. */
export async function openClient(target: ConnectionTarget, options: ConnectionOptions): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(target, options));
  client.on("error", (error) => options.log.warn("database connection lost", { reason: messageOf(error) }));
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch((endError: unknown) => {
      options.log.debug("closing a connection that was never made", { reason: messageOf(endError) });
    });
    throw error;
  }
  return client;
}
