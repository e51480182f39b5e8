// Who a login is for, asked afresh at every step: the person must still exist, their login must neither be revoked nor have lasted too
// long, and the roles are those of now. A login that fails here is asked for the password again; a token that fails is refused.
import type { Account, FindAccount, interactionPolicy, KoaContextWithOIDC } from "oidc-provider";
import * as instant from "../../../contracts/src/instant.ts";
import type { Library } from "./load-library.ts";
import { actorOf, type EmbeddedProviderOptions, type Person, subjectOf } from "./options.ts";
import { sessionIdOf } from "./state-adapter.ts";

type AccountOptions = Pick<EmbeddedProviderOptions, "issuer" | "people" | "revocations" | "clock" | "sessionS">;

/** When the login was and what a revocation would call it, in whole seconds as the library has them. */
interface Login {
  readonly sessionId: string;
  readonly loginS: number;
  readonly issuedS: number;
}

type Token = Parameters<FindAccount>[2];

function loginOf(context: KoaContextWithOIDC, token: Token): Login | undefined {
  if (token === undefined) {
    const session = context.oidc.session;
    if (session?.loginTs === undefined) return undefined;
    return { sessionId: sessionIdOf(session.uid), loginS: session.loginTs, issuedS: session.loginTs };
  }
  const facts = token as {
    readonly grantId?: string;
    readonly authTime?: number;
    readonly iat?: number;
    readonly iiat?: number;
  };
  const issuedS = facts.iiat ?? facts.iat;
  if (facts.grantId === undefined || issuedS === undefined) return undefined;
  return { sessionId: sessionIdOf(facts.grantId), loginS: facts.authTime ?? issuedS, issuedS };
}

export function accountFinder(options: AccountOptions): FindAccount {
  const { people, revocations, clock } = options;
  return async (context, name, token) => {
    const login = loginOf(context, token);
    if (login === undefined || remainingS(login.loginS, options) <= 0) return undefined;
    const revoked = await revocations.isRevoked({
      sessionId: login.sessionId,
      subject: subjectOf(options.issuer, name),
      actor: actorOf(name),
      issuedAt: instant.earlier(instant.fromUnixMs(login.issuedS * 1_000), clock.now()),
    });
    if (revoked) return undefined;
    const person = await people.find(name);
    return person === undefined ? undefined : accountOf(person);
  };
}

/** How much of a login is left, in whole seconds. */
export function remainingS(loginS: number, options: Pick<AccountOptions, "clock" | "sessionS">): number {
  return loginS + options.sessionS - Math.floor(instant.toUnixMs(options.clock.now()) / 1_000);
}

interface PersonAccount extends Account {
  readonly person: Person;
}

export function accountOf(person: Person): PersonAccount {
  return {
    accountId: person.name,
    person,
    claims: () => ({ sub: person.name, name: person.name, preferred_username: person.name, roles: [...person.roles] }),
  };
}

export function personOf(account: Account | undefined): Person | undefined {
  return (account as PersonAccount | undefined)?.person;
}

const parameterLengthMax = 2_048;

/** State, nonce and their like are kept as they came until the login is over, so they have a bound. */
export function checkLengths({ oidc }: KoaContextWithOIDC, library: Library): void {
  const tooLong = Object.entries(oidc.params ?? {}).find(
    ([, value]) => typeof value === "string" && value.length > parameterLengthMax,
  );
  if (tooLong === undefined) return;
  // It would be sent back with the refusal.
  if (oidc.params !== undefined) oidc.params[tooLong[0]] = undefined;
  throw new library.errors.InvalidRequest(`${tooLong[0]} is too long`);
}

/** The library's own order of questions, and one more: a session whose person is gone or whose login ended starts over. */
export function loginPolicy(library: Library): interactionPolicy.DefaultPolicy {
  const { base, Check } = library.policy;
  const policy = base();
  const isOver = ({ oidc }: KoaContextWithOIDC): boolean =>
    oidc.session?.accountId !== undefined && oidc.account === undefined;
  // Asked before anything of the request is kept.
  policy.get("login")?.checks.add(
    new Check("too_long", "a parameter is too long", (context) => {
      checkLengths(context, library);
      return false;
    }),
  );
  policy.get("login")?.checks.add(new Check("login_over", "the login has ended", isOver));
  return policy;
}
