// A verifier for tests of the gRPC adapter: it knows its tokens by heart, and a test can take them away, make it silent or break it.
import { type Operation, type Role, roles } from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import { fromUnixMs } from "../../contracts/src/instant.ts";
import type { Identity, Verifier } from "../../ports/identity.ts";

/** The token of a caller with every role. */
export const everyRole = "everyRole";

export interface TestVerifier extends Verifier {
  /** How often it was asked. */
  readonly asked: string[];
  /** What it answers from now on, instead of looking the token up. */
  answer(instead: (() => Promise<Identity>) | undefined): void;
}

/** Knows one token per role, named like the role, `everyRole`, and what the test adds. */
export function testVerifier(more: Readonly<Record<string, readonly Operation[]>> = {}): TestVerifier {
  const known = new Map<string, Identity>([
    ...roles.map((role) => [role, identityWith(role, [role])] as const),
    [everyRole, identityWith(everyRole, roles)],
    ...Object.entries(more).map(
      ([name, operations]) => [name, { ...identityWith(name, ["service"]), operations }] as const,
    ),
  ]);
  const asked: string[] = [];
  let instead: (() => Promise<Identity>) | undefined;
  return {
    asked,
    answer: (given) => {
      instead = given;
    },
    verify: async (token) => {
      asked.push(token);
      if (instead !== undefined) return instead();
      const identity = known.get(token);
      if (identity === undefined) throw unknownToken();
      return identity;
    },
    health: () => ({ status: "ok" }),
    close: async () => undefined,
  };
}

export function unknownToken(): Fault {
  return new Fault("UNAUTHENTICATED", "The token is not one of ours. Log in again.", { retry: "never" });
}

function identityWith(name: string, given: readonly Role[]): Identity {
  const kind = given.every((role) => role === "service") ? "service" : "operator";
  return {
    kind,
    name,
    actor: `${kind}:${name}`,
    subject: `test|${name}`,
    issuer: "test",
    roles: given,
    tokenId: name,
    issuedAt: fromUnixMs(0),
    expiresAt: fromUnixMs(4_102_444_800_000),
  };
}
