// In production and with an external issuer the development operators do not exist: whatever an earlier start left of them is
// removed. The rows go first, in one transaction, and the file last: as long as the file is there, the next start looks again.
import { format } from "../../contracts/src/instant.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { EventWriter } from "../../ports/store.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { Sql } from "../postgres/store-transaction.ts";
import { type CredentialsFile, type DevelopmentCredentials, openCredentialsFile } from "./development-file.ts";
import { developmentActor } from "./development-operators.ts";
import { deleteFactor, lockFactorsOfActor } from "./factor-rows.ts";
import { personRevocationEnd, revoke } from "./logins/revocation-rows.ts";
import type { Sealing } from "./sealing.ts";
import { findDevelopmentTokens } from "./service-token-rows.ts";
import { revokeWithEvent } from "./service-tokens.ts";

interface RemoveDevelopmentOptions {
  readonly dataFolder: string;
  readonly store: PostgresStore;
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessionS: number;
  readonly file?: CredentialsFile;
}

export async function removeDevelopmentOperators(options: RemoveDevelopmentOptions): Promise<void> {
  const { store, log } = options;
  const file = options.file ?? openCredentialsFile(options.dataFolder, log);
  const credentials = await file.read();
  const names = await store.transactSql("identity.development_remove", async ({ events }, sql) => {
    const gone = await removePeople(options, sql, events, credentials);
    await removeTokens(options, sql, events);
    return gone;
  });
  const hadFile = await file.remove();
  if (names.length === 0 && !hadFile) return;
  log.info("removed the development operators: they do not exist in production or with another issuer", {
    operators: names.join(" "),
    file: file.path,
  });
}

async function removePeople(
  { sealing, clock, sessionS }: RemoveDevelopmentOptions,
  sql: Sql,
  events: EventWriter,
  credentials: DevelopmentCredentials | undefined,
): Promise<readonly string[]> {
  const at = clock.now();
  const found = await sql.read({ text: "select name from operator where development order by name" });
  const names: readonly string[] = found.rows.map((row) => row.name);
  if (names.length === 0) return names;
  const announced = await sql.read({ text: "select issuer from identity_issuer" });
  const issuer: string | undefined = announced.rows[0]?.issuer;
  for (const name of names) {
    const actor = `operator:${name}`;
    const secret = credentials?.operators.find((one) => one.name === name)?.totp_secret;
    // The same name at another issuer is another person: only what the embedded provider or the file knew is theirs.
    const theirs = (await lockFactorsOfActor(sql, sealing, actor)).filter(
      (row) => row.subject === `${issuer}|${name}` || (secret !== undefined && row.secret === secret),
    );
    const ended = new Set(theirs.map((row) => row.subject));
    for (const subject of ended) {
      await deleteFactor(sql, subject);
      await events.publish(subjects.factorChanged, {
        operator: actor,
        factor: "totp",
        change: "removed",
        at: format(at),
      });
    }
    if (issuer !== undefined) ended.add(`${issuer}|${name}`);
    // What the provider still keeps of their logins is found by name alone once its address has changed.
    ended.add(actor);
    for (const id of ended) {
      const until = personRevocationEnd(at, sessionS);
      await revoke(sql, { kind: "subject", id, at, until, actor: developmentActor });
      await sql.write({ text: "delete from step_up_proof where subject = $1", values: [id] });
    }
    await events.publish(subjects.sessionClosed, { principal: actor, method: "token", at: format(at) });
    await events.publish(subjects.operatorChanged, {
      operator: actor,
      change: "removed",
      roles: [],
      actor: developmentActor,
      at: format(at),
    });
  }
  await sql.write({ text: "delete from operator where development" });
  return names;
}

/** Those that an administrator rotated go as well: they began as a token that lay in a file. */
async function removeTokens({ clock }: RemoveDevelopmentOptions, sql: Sql, events: EventWriter): Promise<void> {
  const tokens = await findDevelopmentTokens(sql);
  if (tokens.length === 0) return;
  const by = { identity: { actor: developmentActor }, at: clock.now() };
  for (const { row } of tokens) await revokeWithEvent(sql, events, row, by);
  await sql.write({ text: "delete from service_token where development" });
}
