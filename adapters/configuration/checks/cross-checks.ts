// Rules that concern several keys at once. They look at the data before it is known to be valid, so that their complaints
// come together with all the others; whatever has the wrong type is left to the schema's own complaint.
import { storeProcesses } from "../../../contracts/src/platform-services.ts";
import { cosignatureType, readVerifierKey } from "../../../core/audit/signed-note.ts";
import { systemSha256OfBytes } from "../../system/signing.ts";
import type { Complaint } from "../complaint.ts";
import { type Path, pathText } from "../schema-tree.ts";
import { valueAt } from "../tree.ts";
import { hostsOverlap } from "../value-forms.ts";
import { type CheckInput, complain, effective } from "./check-input.ts";
import { noClearText } from "./clear-text-checks.ts";
import { addressToAnnounce, beyondThisMachine, modeIsSaid, servicesElsewhere, wholeTls } from "./exposure-checks.ts";
import { listenersHere } from "./listeners-here.ts";
import {
  mailNeedsServer,
  schedulesNameTheirReport,
  storageNeedsBucket,
  windowsWhereThereAreSome,
} from "./reports-checks.ts";

type CrossCheck = (input: CheckInput) => readonly Complaint[];

/** Every rule, in the order of its complaints. */
const crossChecks: readonly CrossCheck[] = [
  modeIsSaid,
  beyondThisMachine,
  wholeTls,
  servicesElsewhere,
  noClearText,
  addressToAnnounce,
  fundOrFunds,
  distinctFunds,
  catNeedsSubscriber,
  filingsNeedTheirWay,
  noRepetitions,
  distinctPorts,
  appUrlNeedsUrl,
  loginsNeedUrl,
  oneBusLogin,
  oneKeySource,
  vaultNeedsAddress,
  vaultNeedsLogin,
  issuerNeedsClient,
  clientNeedsIssuer,
  backoffGrows,
  diskLimitsFall,
  lossValueAgeWithinNavAge,
  knownWitnesses,
  enoughWitnesses,
  chatNeedsChannel,
  schedulesNameTheirReport,
  windowsWhereThereAreSome,
  mailNeedsServer,
  storageNeedsBucket,
];

export function crossComplaints(input: CheckInput): readonly Complaint[] {
  return crossChecks.flatMap((check) => check(input));
}

function fundPaths(input: CheckInput): readonly Path[] {
  const list = valueAt(input.tree, ["funds"]);
  const listed: readonly Path[] = Array.isArray(list) ? list.map((_, index) => ["funds", index]) : [];
  return valueAt(input.tree, ["fund"]) === undefined ? listed : [["fund"], ...listed];
}

function fundOrFunds(input: CheckInput): readonly Complaint[] {
  const both = valueAt(input.tree, ["fund"]) !== undefined && valueAt(input.tree, ["funds"]) !== undefined;
  return both ? [complain(input, ["fund"], "either `fund` (one fund) or `funds` (a list), not both")] : [];
}

function distinctFunds(input: CheckInput): readonly Complaint[] {
  const seen = new Map<string, Path>();
  return fundPaths(input).flatMap((path) => {
    const idPath = [...path, "fund_id"];
    const id = valueAt(input.tree, idPath);
    if (typeof id !== "string") return [];
    const first = seen.get(id);
    if (first !== undefined) return [complain(input, idPath, `an id of its own; ${pathText(first)} has the same`)];
    seen.set(id, idPath);
    return [];
  });
}

function catNeedsSubscriber(input: CheckInput): readonly Complaint[] {
  return fundPaths(input).flatMap((path) => {
    const enabled = valueAt(input.tree, [...path, "compliance", "cat_enabled"]) === true;
    const subscriber = [...path, "compliance", "cat_subscriber_id"];
    if (!enabled || valueAt(input.tree, subscriber) !== undefined) return [];
    return [complain(input, subscriber, "the reporting subscriber's id, because cat_enabled is true")];
  });
}

function filingsNeedTheirWay(input: CheckInput): readonly Complaint[] {
  const path: Path = ["filings", "cat"];
  const transport = effective(input, [...path, "transport"]);
  const needed: Readonly<Record<string, readonly Path[]>> = {
    folder: [["folder"]],
    sftp: ["host", "user", "host_key_sha256", "transit_dir", "complete_dir", "feedback_dir"].map((name) => [
      "sftp",
      name,
    ]),
  };
  return (needed[String(transport)] ?? []).flatMap((name) => {
    const missing = [...path, ...name];
    if (valueAt(input.tree, missing) !== undefined) return [];
    return [complain(input, missing, `a value, because filings.cat.transport is ${String(transport)}`)];
  });
}

function noRepetitions(input: CheckInput): readonly Complaint[] {
  const schedule = valueAt(input.tree, ["reports", "schedule"]);
  const names = typeof schedule === "object" && schedule !== null ? Object.keys(schedule) : [];
  const paths: Path[] = [
    ["services"],
    ...names.flatMap((name) => [
      ["reports", "schedule", name, "funds"],
      ["reports", "schedule", name, "distribute"],
    ]),
  ];
  return paths.flatMap((path) => {
    const list = valueAt(input.tree, path);
    if (!Array.isArray(list)) return [];
    const repeated = list.findIndex((item, index) => typeof item === "string" && list.indexOf(item) < index);
    return repeated < 0 ? [] : [complain(input, [...path, repeated], "every member once")];
  });
}

function distinctPorts(input: CheckInput): readonly Complaint[] {
  // What takes any free port clashes with nobody.
  const listeners = listenersHere(input).filter(({ port }) => port !== 0);
  return listeners.flatMap((left, index) => {
    const right = listeners
      .slice(0, index)
      .find(({ host, port }) => port === left.port && hostsOverlap(host, left.host));
    if (right === undefined) return [];
    // Of the two, the one that somebody wrote is the one to change.
    const [reported, other] = valueAt(input.tree, left.path) === undefined ? [right, left] : [left, right];
    return [complain(input, reported.path, `another port than ${pathText(other.path)}, which is ${left.port} too`)];
  });
}

function appUrlNeedsUrl(input: CheckInput): readonly Complaint[] {
  const url = valueAt(input.tree, ["database", "url"]);
  const appUrl = valueAt(input.tree, ["database", "app_url"]);
  if (appUrl === undefined || url !== undefined) return [];
  return [complain(input, ["database", "app_url"], "`database.url` (PORTCULLIS_DATABASE_URL) beside it")];
}

function loginsNeedUrl(input: CheckInput): readonly Complaint[] {
  if (valueAt(input.tree, ["database", "url"]) !== undefined) return [];
  const named = storeProcesses.find((name) => valueAt(input.tree, ["database", "logins", name]) !== undefined);
  if (named === undefined) return [];
  const expected = "`database.url` (PORTCULLIS_DATABASE_URL) beside it; the embedded PostgreSQL makes logins by itself";
  return [complain(input, ["database", "logins", named], expected)];
}

function oneBusLogin(input: CheckInput): readonly Complaint[] {
  const both = ["creds_file", "creds_dir"].every((name) => valueAt(input.tree, ["bus", name]) !== undefined);
  const expected = "one login for all (`creds_file`) or one for each service (`creds_dir`), not both";
  return both ? [complain(input, ["bus", "creds_dir"], expected)] : [];
}

function oneKeySource(input: CheckInput): readonly Complaint[] {
  const both = ["passphrase", "key_file"].every((name) => valueAt(input.tree, ["secrets", name]) !== undefined);
  return both ? [complain(input, ["secrets", "key_file"], "a key file or a passphrase, not both")] : [];
}

function usesVault(input: CheckInput): boolean {
  return effective(input, ["secrets", "backend"]) === "vault";
}

function vaultNeedsAddress(input: CheckInput): readonly Complaint[] {
  const path = ["secrets", "vault", "addr"];
  if (!usesVault(input) || valueAt(input.tree, path) !== undefined) return [];
  return [complain(input, path, "the address of Vault (PORTCULLIS_VAULT_ADDR), because secrets.backend is vault")];
}

function vaultNeedsLogin(input: CheckInput): readonly Complaint[] {
  if (!usesVault(input)) return [];
  const has = (name: string): boolean => valueAt(input.tree, ["secrets", "vault", name]) !== undefined;
  if (has("token") || (has("role_id") && has("secret_id"))) return [];
  const expected =
    "PORTCULLIS_VAULT_TOKEN, or PORTCULLIS_VAULT_ROLE_ID and PORTCULLIS_VAULT_SECRET_ID, because secrets.backend is vault";
  const missing = has("role_id") ? "secret_id" : has("secret_id") ? "role_id" : "token";
  return [complain(input, ["secrets", "vault", missing], expected)];
}

function issuerNeedsClient(input: CheckInput): readonly Complaint[] {
  const path = ["identity", "client_id"];
  if (valueAt(input.tree, ["identity", "issuer"]) === undefined || valueAt(input.tree, path) !== undefined) return [];
  return [
    complain(input, path, "the id of our client there (PORTCULLIS_OIDC_CLIENT_ID), because identity.issuer is set"),
  ];
}

/** Set without an issuer they would do nothing, and whoever set them believes that they do. */
function clientNeedsIssuer(input: CheckInput): readonly Complaint[] {
  if (valueAt(input.tree, ["identity", "issuer"]) !== undefined) return [];
  return ["client_id", "web_client_id", "audience"]
    .map((name) => ["identity", name])
    .filter((path) => valueAt(input.tree, path) !== undefined)
    .map((path) => complain(input, path, "`identity.issuer` (PORTCULLIS_OIDC_ISSUER) beside it"));
}

function backoffGrows(input: CheckInput): readonly Complaint[] {
  const path = ["lifecycle", "restart_backoff_max_ms"];
  const first = effective(input, ["lifecycle", "restart_backoff_first_ms"]);
  const max = effective(input, path);
  if (typeof first !== "number" || typeof max !== "number" || first <= max) return [];
  const set = valueAt(input.tree, path) === undefined ? ["lifecycle", "restart_backoff_first_ms"] : path;
  return [complain(input, set, `restart_backoff_first_ms (${first}) not above restart_backoff_max_ms (${max})`)];
}

/** Each limit is a step further than the one before; the default of one that is not set is held against those that are. */
function diskLimitsFall(input: CheckInput): readonly Complaint[] {
  const steps = ["warn_mb", "new_risk_mb", "reserve_mb"].map((name) => ["disk", name] as const);
  return steps.slice(1).flatMap((path, index) => {
    const above = steps[index] ?? path;
    const [value, most] = [effective(input, path), effective(input, above)];
    if (typeof value !== "number" || typeof most !== "number" || value <= most) return [];
    // Of the two, the one that somebody wrote is the one to change.
    if (valueAt(input.tree, path) === undefined) {
      return [complain(input, above, `at least ${pathText(path)}, which is ${value}`)];
    }
    return [complain(input, path, `at most ${pathText(above)}, which is ${most}`)];
  });
}

/** A value too old to decide on judges no loss either; whoever sets more believes that it does. */
function lossValueAgeWithinNavAge(input: CheckInput): readonly Complaint[] {
  const path = ["risk", "loss_value_age_max_s"];
  const [set, max] = [valueAt(input.tree, path), effective(input, ["risk", "nav_age_max_s"])];
  if (typeof set !== "number" || typeof max !== "number" || set <= max) return [];
  return [complain(input, path, `at most risk.nav_age_max_s (${max})`)];
}

/** Here and not where they are first used: there a service that has nothing to do with them would fail to start. */
function knownWitnesses(input: CheckInput): readonly Complaint[] {
  const list = valueAt(input.tree, ["audit", "witnesses"]);
  const seen = new Set<string>();
  return (Array.isArray(list) ? list : []).flatMap((witness: unknown, index) => {
    const vkey = typeof witness === "string" ? witness.split(" ")[1] : undefined;
    if (vkey === undefined) return [];
    const path = ["audit", "witnesses", index];
    const key = readVerifierKey(vkey, systemSha256OfBytes);
    if (key?.type !== cosignatureType) {
      return [complain(input, path, "a URL and a witness's vkey, as `ctl operations audit witness` prints it")];
    }
    const publicKey = Buffer.from(key.publicKey).toString("hex");
    if (seen.has(publicKey)) return [complain(input, path, "every witness once; one before it has the same key")];
    seen.add(publicKey);
    return [];
  });
}

/** More than there are can never have cosigned; without any witness only the default may stand there. */
function enoughWitnesses(input: CheckInput): readonly Complaint[] {
  const path = ["audit", "witnesses_needed"];
  const [needed, list] = [valueAt(input.tree, path), effective(input, ["audit", "witnesses"])];
  const count = Array.isArray(list) ? list.length : 0;
  if (typeof needed !== "number" || needed <= Math.max(1, count)) return [];
  const named = `audit.witnesses (PORTCULLIS_AUDIT_WITNESSES) names ${count}`;
  return [complain(input, path, `at most as many as there are witnesses: ${named}; name more or need fewer`)];
}

function chatNeedsChannel(input: CheckInput): readonly Complaint[] {
  const isNeeded = effective(input, ["chat", "provider"]) === "discord";
  if (!isNeeded || valueAt(input.tree, ["chat", "channel_id"]) !== undefined) return [];
  return [complain(input, ["chat", "channel_id"], "the channel's number, because chat.provider is discord")];
}
