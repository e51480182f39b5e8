// What the embedded provider asks and tells of the list of ended logins that every verifier reads.
import type { Clock } from "../../../ports/clock.ts";
import type { PostgresStore } from "../../postgres/store.ts";
import type { Revocations } from "../embedded/options.ts";
import { isAnySessionRevoked, isSubjectRevoked, revoke, sessionRevocationEnd } from "./revocation-rows.ts";

interface ProviderRevocationsOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  /** How long a login can last: `identity.session_s`. */
  readonly sessionS: number;
}

export function createProviderRevocations({ store, clock, sessionS }: ProviderRevocationsOptions): Revocations {
  return {
    isRevoked: ({ sessionId, subject, actor, issuedAt }) =>
      store.transactSql("identity.is_revoked", async (_unit, sql) => {
        if (await isAnySessionRevoked(sql, [sessionId])) return true;
        // By name as well: the subject begins with the issuer's address, which may have been another one then.
        return (await isSubjectRevoked(sql, subject, issuedAt)) || (await isSubjectRevoked(sql, actor, issuedAt));
      }),
    isAnySessionRevoked: (sessionIds) =>
      store.transactSql("identity.is_revoked", (_unit, sql) => isAnySessionRevoked(sql, sessionIds)),
    revokeSession: (id, actor) =>
      store.transactSql("identity.revoke_session", async (_unit, sql) => {
        // Of many who end one login at once, those who come late find it ended and collide with nobody.
        if (await isAnySessionRevoked(sql, [id])) return;
        const at = clock.now();
        await revoke(sql, { kind: "session", id, at, until: sessionRevocationEnd(at, sessionS), actor });
      }),
  };
}
