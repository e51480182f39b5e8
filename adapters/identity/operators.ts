// The people of the embedded provider: a name, a password hash and roles.
//
//  1. An answer takes as long for a name that nobody has as for a wrong password.
//  2. Every wrong password is an event; too many from one address for one name are refused without looking.
import { isRole, type Role } from "../../contracts/src/authority.ts";
import { Fault } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { createPasswordHashing, type PasswordHashing } from "./password-hashing.ts";
import { createWrongPasswords, type WrongPasswords } from "./wrong-passwords.ts";

export interface Operator {
  readonly name: string;
  readonly roles: readonly Role[];
  /** Made at the first start, for trying things out. */
  readonly development: boolean;
}

export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** Where the attempt came from, as the listener saw it. */
  readonly remoteAddress: string;
}

export type Authentication =
  | { readonly ok: true; readonly operator: Operator }
  | { readonly ok: false; readonly code: "UNAUTHENTICATED" }
  | { readonly ok: false; readonly code: "RESOURCE_EXHAUSTED"; readonly retryAfterS: number };

export interface Operators {
  /** A refused attempt has left its event when this resolves; a login's own event is its owner's. */
  authenticate(credentials: Credentials): Promise<Authentication>;
  find(name: string): Promise<Operator | undefined>;
  /** Makes or replaces. */
  put(operator: Operator & { readonly password: string }): Promise<void>;
  remove(name: string): Promise<void>;
}

export interface OperatorsOptions {
  readonly store: PostgresStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly hashing?: PasswordHashing;
  readonly wrongPasswords?: WrongPasswords;
}

interface OperatorRow {
  readonly name: string;
  readonly roles: readonly string[];
  readonly development: boolean;
  readonly password_hash: string;
}

export function createOperators(options: OperatorsOptions): Operators {
  const { store, clock } = options;
  const hashing = options.hashing ?? createPasswordHashing();
  const wrongPasswords = options.wrongPasswords ?? createWrongPasswords(clock);
  let nobodysHash: Promise<string> | undefined;

  /** The hash of a password that nobody knows, to verify against when there is no such person. */
  function hashOfNobody(): Promise<string> {
    nobodysHash ??= hashing.hash(Buffer.from(options.random.bytes(32)).toString("base64url")).catch((thrown) => {
      nobodysHash = undefined;
      throw thrown;
    });
    return nobodysHash;
  }

  async function findRow(name: string): Promise<OperatorRow | undefined> {
    // What is not a name is asked of nobody; the database would refuse some of it.
    if (!idText.safeParse(name).success) return undefined;
    return store.transactSql("identity.operator_find", async (_unit, sql) => {
      const found = await sql.read({
        name: "operator_find",
        text: "select name, roles, development, password_hash from operator where name = $1",
        values: [name],
      });
      return found.rows[0];
    });
  }

  async function tellRefused({ name, remoteAddress }: Credentials): Promise<void> {
    const address = lineOf(remoteAddress);
    await store.transact("identity.session_refused", async ({ events }) => {
      await events.publish(subjects.sessionRefused, {
        // What is no name may be a password in the wrong field: records keep nothing of it.
        principal: idText.safeParse(name).success ? `operator:${name}` : "operator:?",
        method: "password",
        code: "UNAUTHENTICATED",
        ...(address === "" ? {} : { remote_address: address }),
        at: format(clock.now()),
      });
    });
  }

  return {
    async authenticate(credentials) {
      const { name, password, remoteAddress } = credentials;
      // Counted before it is looked at, so that a hundred at once are not a hundred tries.
      const retryAfterS = wrongPasswords.begin(name, remoteAddress);
      if (retryAfterS !== undefined) return { ok: false, code: "RESOURCE_EXHAUSTED", retryAfterS };
      const nobody = await hashOfNobody();
      const row = await findRow(name);
      const isRight = await hashing.verify(row?.password_hash ?? nobody, password);
      if (row === undefined || !isRight) {
        await tellRefused(credentials);
        return { ok: false, code: "UNAUTHENTICATED" };
      }
      wrongPasswords.forget(name, remoteAddress);
      return { ok: true, operator: operatorOf(row) };
    },

    async find(name) {
      const row = await findRow(name);
      return row === undefined ? undefined : operatorOf(row);
    },

    async put({ name, password, roles, development }) {
      checkOperator(name, roles);
      const passwordHash = await hashing.hash(password);
      await store.transactSql("identity.operator_put", async (_unit, sql) => {
        await sql.write({
          text: `insert into operator (name, password_hash, roles, development, created_us) values ($1, $2, $3, $4, $5)
                 on conflict (name) do update set password_hash = $2, roles = $3, development = $4`,
          values: [name, passwordHash, [...roles], development, clock.now()],
        });
      });
    },

    async remove(name) {
      await store.transactSql("identity.operator_remove", async (_unit, sql) => {
        await sql.write({ text: "delete from operator where name = $1", values: [name] });
      });
    },
  };
}

function operatorOf(row: OperatorRow): Operator {
  return { name: row.name, roles: row.roles.filter(isRole), development: row.development };
}

function checkOperator(name: string, roles: readonly Role[]): void {
  const complaint = !idText.safeParse(name).success
    ? "the name is not an identifier"
    : roles.length === 0 || roles.some((role) => role === "service" || !isRole(role))
      ? "the roles are not roles of people"
      : undefined;
  if (complaint === undefined) return;
  throw new Fault("INVALID_ARGUMENT", `This operator cannot be made: ${complaint}.`, { retry: "never" });
}

/** What a listener saw, as one line that a record can carry. */
function lineOf(text: string): string {
  return text.slice(0, 200).replaceAll(/[\p{Cc}\u2028\u2029\p{Surrogate}]/gu, "?");
}
