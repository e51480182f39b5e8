// An admin's request to accept a change that has no event. It is judged, proved and stored here, with the login that alone can write requests; a second person signs it
// (cosign-requests.ts), and operations uses it up. Nothing is accepted before that.
import type { Denial } from "../../../contracts/src/codes.ts";
import { judgeAdmin } from "../../../core/identity/identity-rules.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Identity, Outcome, Requested } from "../../../ports/identity.ts";
import type { IdentityRequests } from "../../../ports/operators.ts";
import type { Random } from "../../../ports/random.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";
import { redeemOrTell } from "../step-up-proofs.ts";
import type { ReadPeople } from "./change-work.ts";
import { noReason, refused, tooManyWait } from "./identity-refusals.ts";
import { makeRequest } from "./identity-requests.ts";

interface UnauditedAcceptanceOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly people: ReadPeople;
}

export const acceptance = "AcceptUnauditedChange";

interface Row {
  readonly of_table: string;
  readonly row_id: string;
  readonly found: string;
}

const targetCharactersMax = 200;

export function createUnauditedAcceptance(
  options: UnauditedAcceptanceOptions,
): Pick<IdentityRequests, "requestAcceptance"> {
  const { store, clock, random } = options;
  return {
    requestAcceptance: ({ identity, reason, proof }, changeId) =>
      store.transactSql("identity.accept_request", async ({ events }, sql): Promise<Outcome<Requested>> => {
        const at = clock.now();
        const attempt = { events, identity, at };
        const denial =
          (reason.trim() === "" ? noReason : undefined) ??
          judgeAdmin(identity, await options.people(sql)) ??
          (await ownDenial(sql, identity));
        if (denial !== undefined) return refused(attempt, acceptance, changeId, denial);
        const change = await findChange(sql, changeId);
        if (change === undefined) return refused(attempt, acceptance, changeId, unknownChange);
        const named = { action: acceptance, parameters: { change_id: changeId } } as const;
        const unproved = await redeemOrTell(sql, events, { proof, identity, named, at });
        if (unproved !== undefined) return { ok: false, denial: unproved };
        const { of_table: table, row_id: row, found } = change;
        const request = await makeRequest(sql, events, {
          requestId: random.uuid(),
          operation: acceptance,
          target: `${table}:${row}`.slice(0, targetCharactersMax),
          parameters: { change_id: changeId, table, row, found },
          identity,
          reason,
          at,
        });
        return request === undefined ? { ok: false, denial: tooManyWait } : { ok: true, value: { request } };
      }),
  };
}

const unknownChange: Denial = {
  code: "UNAUDITED_CHANGE_UNKNOWN",
  reason: "There is no such change, or it can only be undone: see `ctl operations unaudited list`.",
};

/** What has no row of its own to accept is undone. */
async function findChange(sql: Sql, changeId: string): Promise<Row | undefined> {
  const found = await sql.read({
    text: `select of_table, row_id, found from guard_differences()
           where guard_change_id(of_table, row_id, found, digest) = $1 and of_table not in ('halt_epoch', 'risk_envelope_head')`,
    values: [changeId],
  });
  return found.rows[0];
}

/** Who was put in without an event, or whose second factor was, would accept himself. */
export async function ownDenial(
  sql: Sql,
  { name, subject }: Pick<Identity, "name" | "subject">,
): Promise<Denial | undefined> {
  const found = await sql.read({
    text: `select from guard_differences() where (of_table = 'operator' and row_id = $1) or (of_table = 'second_factor' and row_id = $2)
             or (of_table = 'recovery_code' and starts_with(row_id, $2 || ' ')) limit 1`,
    values: [name, subject],
  });
  if (found.rowCount === 0) return undefined;
  const reason =
    "Your own account or second factor was changed without an event: somebody else has to accept or undo that.";
  return { code: "UNAUDITED_CHANGE_OWN", reason };
}
