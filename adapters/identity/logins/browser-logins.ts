// The end of a browser's login at the embedded provider: one transaction ends the session of the browser, every desk that it opened and all their tokens.
// Devices that were approved in it are logins of their own: they stay, and whoever ends the browser's is told of them.
import { fromMicroseconds, type Instant } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { DeviceLogin } from "../../../ports/identity.ts";
import type { EventWriter } from "../../../ports/store.ts";
import type { Sql } from "../../postgres/store-transaction.ts";
import { cliClientId, webClientId } from "../embedded/options.ts";
import type { Sealing } from "../sealing.ts";
import { revoke, tellClosed } from "./revocation-rows.ts";

/** What is kept beside a grant, sealed: who made it, for which client, and for a device what was asked for where. */
export interface GrantMade {
  readonly account: string;
  readonly client: string;
  readonly program?: string | undefined;
  readonly address?: string | undefined;
  readonly at: Instant;
}

export const grantMadeContext = (idHash: string): string => `oidc_state made ${idHash}`;

interface Ending {
  readonly sealing: Sealing;
  readonly at: Instant;
  /** When the revocations may be forgotten. */
  readonly until: Instant;
  readonly actor: string;
}

interface GrantRow {
  readonly id_hash: string;
  readonly session_hash: string | null;
  readonly made_sealed: Uint8Array | null;
  readonly expires_us: string;
}

const columns = "id_hash, session_hash, made_sealed, expires_us";

/** Ends one login by its grant; a desk's takes the browser's session along. The device logins that go on, newest first. */
export async function endGrant(
  sql: Sql,
  events: EventWriter,
  sessionId: string,
  ending: Ending,
): Promise<{ readonly ofBrowser: boolean; readonly deviceLogins: readonly DeviceLogin[] }> {
  await revoke(sql, { ...ending, kind: "session", id: sessionId });
  const found = await sql.write({
    text: `select ${columns} from oidc_state where model = 'Grant' and id_hash = $1 for update`,
    values: [sessionId],
  });
  const row: GrantRow | undefined = found.rows[0];
  await forget(sql, sessionId);
  await tellClosed(events, ending.actor, ending.at, { sessionId });
  const isWeb = row !== undefined && madeOf(row, ending.sealing)?.client === webClientId;
  if (!isWeb || row.session_hash === null) return { ofBrowser: false, deviceLogins: [] };
  return { ofBrowser: true, deviceLogins: await endBrowserLogin(sql, events, row.session_hash, ending) };
}

/** Ends a browser's session with its desks. */
export async function endBrowserLogin(
  sql: Sql,
  events: EventWriter,
  browserSession: string,
  ending: Ending,
): Promise<readonly DeviceLogin[]> {
  // Written down beside the removal: a request of the browser that is under way may save its session once more.
  await revoke(sql, { ...ending, kind: "session", id: browserSession });
  await sql.write({
    text: "delete from oidc_state where model = 'Session' and uid_hash = $1",
    values: [browserSession],
  });
  const found = await sql.write({
    text: `select ${columns} from oidc_state where session_hash = $1 and expires_us > $2 order by id_hash for update`,
    values: [browserSession, ending.at],
  });
  const deviceLogins: DeviceLogin[] = [];
  for (const row of found.rows as readonly GrantRow[]) {
    const made = madeOf(row, ending.sealing);
    if (made?.client === webClientId) {
      await revoke(sql, { ...ending, kind: "session", id: row.id_hash });
      await forget(sql, row.id_hash);
      await tellClosed(events, `operator:${made.account}`, ending.at, { sessionId: row.id_hash });
    } else if (made?.client === cliClientId) {
      deviceLogins.push({
        sessionId: row.id_hash,
        program: made.program ?? "unknown",
        address: made.address ?? "unknown",
        approvedAt: made.at,
        expiresAt: fromMicroseconds(Number(row.expires_us)),
      });
    }
  }
  return deviceLogins.sort((one, other) => other.approvedAt - one.approvedAt);
}

/** The grant with all that was issued under it. */
async function forget(sql: Sql, idHash: string): Promise<void> {
  await sql.write({
    text: "delete from oidc_state where grant_hash = $1 or (model = 'Grant' and id_hash = $1)",
    values: [idHash],
  });
}

function madeOf(row: GrantRow, sealing: Sealing): GrantMade | undefined {
  if (row.made_sealed === null) return undefined;
  return parseJson(sealing.open(row.made_sealed, grantMadeContext(row.id_hash))) as GrantMade;
}
