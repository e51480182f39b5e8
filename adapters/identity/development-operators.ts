// The development operators: three people and one machine of the embedded provider, outside production only, whose credentials lie
// in a file on this machine.
//
//  1. The file is the truth, and it is written first. Every start looks at what differs and makes the rows agree in one
//     transaction, so a crash anywhere is mended by the next start; nothing depends on what an earlier start had in mind.
//  2. Whatever is replaced is ended: sessions of a changed operator, a token that the file no longer names.
//  3. A code that was accepted before a restart stays used, also when the issuer's address changed in between.
//  4. A person of the same name who is not one of these is left alone.
import type { Role } from "../../contracts/src/authority.ts";
import {
  format,
  fromMicroseconds,
  type Instant,
  microsecondsPerMillisecond,
  microsecondsPerSecond,
  plusMilliseconds,
} from "../../contracts/src/instant.ts";
import type { FactorChanged } from "../../contracts/src/records/platform.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import { freshAttempts } from "../../core/halts/second-factor.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { EventWriter } from "../../ports/store.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { Sql } from "../postgres/store-transaction.ts";
import {
  type CredentialsFile,
  type DevelopmentCredentials,
  newCredentials,
  openCredentialsFile,
} from "./development-file.ts";
import { deleteFactor, factorContext, lockFactorsOfActor, moveRecoveryCodes, saveFactor } from "./factor-rows.ts";
import { personRevocationEnd, revoke } from "./logins/revocation-rows.ts";
import type { PasswordHashing } from "./password-hashing.ts";
import { hashOf, type Sealing } from "./sealing.ts";
import { findDevelopmentTokens, insertToken, prolongToken, type TokenRow } from "./service-token-rows.ts";
import { newServiceToken, serviceTokenIdOf } from "./service-token-text.ts";
import { revokeWithEvent, tellToken } from "./service-tokens.ts";
import { dropProofs } from "./step-up-proofs.ts";

interface DevelopmentOperatorsOptions {
  readonly dataFolder: string;
  /** The embedded issuer as it is announced now. */
  readonly issuer: string;
  readonly store: PostgresStore;
  readonly sealing: Sealing;
  readonly hashing: PasswordHashing;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How long a login can last: `identity.session_s`. */
  readonly sessionS: number;
  /** Where the credentials lie; tests hand in one that fails. */
  readonly file?: CredentialsFile;
}

const tokenName = "order-management";
const tokenOperations = [
  "CheckOrder",
  "CheckOrders",
  "GetEnvelope",
  "ConfirmSent",
  "ReleaseApproval",
  "ListApprovals",
  "GetHaltStatus",
  "GetDecisions",
  "TailEvents",
  "Publish",
  "PublishOrders",
  "PublishValues",
  "PublishPrices",
  "GetForeignPosition",
] as const;
/** As long as any token may live; each start gives it the same again. */
const tokenMs = 90 * 86_400_000;
const prolongedMs = 86_400_000;
export const developmentActor = "service:gateway";
const by = { actor: developmentActor } as const;

interface Round {
  readonly sql: Sql;
  readonly events: EventWriter;
  readonly at: Instant;
}

type FileOperator = DevelopmentCredentials["operators"][number];

/** When this resolves, file and rows agree. */
export async function ensureDevelopmentOperators(options: DevelopmentOperatorsOptions): Promise<void> {
  const { log, random } = options;
  const file = options.file ?? openCredentialsFile(options.dataFolder, log);
  const found = await file.read();
  const isNew = found === undefined;
  let credentials = found ?? newCredentials(random);
  if (!isNew && (await isTokenDead(options, credentials.service_token))) {
    // A token that was revoked never comes back; the file gets another one.
    credentials = { ...credentials, service_token: newServiceToken(random).token };
  }
  if (credentials !== found) {
    await file.write(credentials);
    log.info("wrote the credentials of the development operators", { file: file.path });
  }
  const hashes = await differingPasswords(options, credentials);
  await options.store.transactSql("identity.development_operators", async ({ events }, sql) => {
    const round = { sql, events, at: options.clock.now() };
    for (const operator of credentials.operators) {
      const isOurs = await agreeOnOperator(options, round, operator, hashes.get(operator.name));
      if (isOurs) await agreeOnFactor(options, round, operator, isNew);
    }
    await agreeOnToken(round, credentials.service_token);
  });
}

interface OperatorRow {
  readonly name: string;
  readonly password_hash: string;
  readonly roles: readonly string[];
  readonly development: boolean;
}

const operatorColumns = "name, password_hash, roles, development";

/** New hashes of those passwords that the rows do not have; made before the transaction, because each takes its time. */
async function differingPasswords(
  { store, hashing }: DevelopmentOperatorsOptions,
  credentials: DevelopmentCredentials,
): Promise<ReadonlyMap<string, string>> {
  const rows: readonly OperatorRow[] = await store.transactSql("identity.development_look", async (_unit, sql) => {
    const found = await sql.read({ text: `select ${operatorColumns} from operator where development` });
    return found.rows;
  });
  const hashes = new Map<string, string>();
  for (const { name, password } of credentials.operators) {
    const row = rows.find((one) => one.name === name);
    const agrees = row !== undefined && (await hashing.verify(row.password_hash, password));
    if (!agrees) hashes.set(name, await hashing.hash(password));
  }
  return hashes;
}

/** False when somebody else has that name. */
async function agreeOnOperator(
  options: DevelopmentOperatorsOptions,
  round: Round,
  { name, roles }: FileOperator,
  newHash: string | undefined,
): Promise<boolean> {
  const { sql, at } = round;
  const found = await sql.read({ text: `select ${operatorColumns} from operator where name = $1`, values: [name] });
  const row: OperatorRow | undefined = found.rows[0];
  if (row?.development === false) {
    options.log.warn("a real operator has the name of a development operator and is left alone", { name });
    return false;
  }
  if (row === undefined || newHash !== undefined || !sameRoles(row.roles, roles)) {
    await sql.write({
      text: `insert into operator (name, password_hash, roles, development, created_us) values ($1, $2, $3, true, $4)
             on conflict (name) do update set password_hash = $2, roles = $3`,
      values: [name, newHash ?? row?.password_hash, roles, at],
    });
    await round.events.publish(subjects.operatorChanged, {
      operator: `operator:${name}`,
      change: row === undefined ? "made" : "changed",
      roles: [...roles],
      actor: developmentActor,
      at: format(at),
    });
    if (row !== undefined) await endSessions(round, name, `${options.issuer}|${name}`, options.sessionS);
  }
  return true;
}

function sameRoles(left: readonly string[], right: readonly Role[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}

async function endSessions(round: Round, name: string, subject: string, sessionS: number): Promise<void> {
  const { sql, events, at } = round;
  // Tokens say in whole seconds when they were issued. The provider is not up yet, so this second has none to refuse, and the
  // first login after the start must not be taken for an old one.
  const since = fromMicroseconds(at - (at % microsecondsPerSecond));
  const until = personRevocationEnd(at, sessionS);
  const principal = `operator:${name}`;
  // By name as well, for what was issued under another address of the issuer.
  for (const id of [subject, principal]) {
    await revoke(sql, { kind: "subject", id, at: since, until, actor: developmentActor });
  }
  await events.publish(subjects.sessionClosed, { principal, method: "token", at: format(at) });
}

async function agreeOnFactor(
  options: DevelopmentOperatorsOptions,
  { sql, events, at }: Round,
  { name, totp_secret: secret }: FileOperator,
  isNew: boolean,
): Promise<void> {
  const { sealing } = options;
  const owner = { subject: `${options.issuer}|${name}`, actor: `operator:${name}` };
  const tell = (change: FactorChanged["change"]): Promise<string> =>
    events.publish(subjects.factorChanged, { operator: owner.actor, factor: "totp", change, at: format(at) });
  const rows = await lockFactorsOfActor(sql, sealing, owner.actor);
  const current = rows.find((row) => row.subject === owner.subject);
  // The same secret under another subject: the issuer had another address.
  const moved = rows.filter((row) => row !== current && row.secret === secret);
  if (current?.secret !== secret) {
    const [source = current] = moved;
    const lastStep = Math.max(-1, ...[current, ...moved].map((row) => row?.attempts.lastStep ?? -1));
    const attempts = isNew ? freshAttempts : { ...(source?.attempts ?? freshAttempts), lastStep, usedSteps: [] };
    const sealed = sealing.seal(secret, factorContext(owner.subject));
    await saveFactor(sql, owner, { sealed, enrolledAt: moved[0]?.enrolledAt ?? at, attempts });
    await dropProofs(sql, owner.subject);
    if (moved[0] !== undefined) await moveRecoveryCodes(sql, moved[0].subject, owner.subject);
    else await tell(current === undefined ? "enrolled" : "replaced");
  }
  for (const row of moved) await deleteFactor(sql, row.subject);
  if (moved.length > 0) await tell("moved");
}

function idOfToken(token: string): string {
  return serviceTokenIdOf(token) ?? "";
}

/** Whether the file's token is known and no longer good, or was made before it could do all that it should. One that is not known yet is only waiting for its row. */
async function isTokenDead({ store, clock }: DevelopmentOperatorsOptions, token: string): Promise<boolean> {
  const rows = await store.transactSql("identity.development_token", (_unit, sql) => findDevelopmentTokens(sql));
  const known = rows.find(({ row }) => row.id === idOfToken(token));
  if (known === undefined) return false;
  if (tokenOperations.some((operation) => !known.row.operations.includes(operation))) return true;
  return known.hash !== hashOf(token) || known.row.revokedAt !== undefined || known.row.expiresAt <= clock.now();
}

async function agreeOnToken({ sql, events, at }: Round, token: string): Promise<void> {
  const id = idOfToken(token);
  const rows = await findDevelopmentTokens(sql);
  for (const { row } of rows) {
    // What an administrator rotated is theirs; it ends with the development operators.
    if (row.id !== id && row.createdBy === developmentActor)
      await revokeWithEvent(sql, events, row, { identity: by, at });
  }
  const known = rows.find(({ row }) => row.id === id)?.row;
  if (known !== undefined) {
    const expiresAt = plusMilliseconds(at, tokenMs);
    // Hours make no difference, and every change makes all processes read the tokens again.
    if (expiresAt - known.expiresAt <= prolongedMs * microsecondsPerMillisecond) return;
    await prolongToken(sql, id, expiresAt);
    await tellToken(events, { ...known, expiresAt }, "issued", { identity: by, at });
    return;
  }
  const row: TokenRow = {
    id,
    name: tokenName,
    operations: tokenOperations,
    development: true,
    createdBy: developmentActor,
    createdAt: at,
    expiresAt: plusMilliseconds(at, tokenMs),
  };
  await insertToken(sql, row, hashOf(token));
  await tellToken(events, row, "issued", { identity: by, at });
}
