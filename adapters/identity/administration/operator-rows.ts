// The rows of the embedded provider's people. Whoever judges a change locks all of them first: they are few, and the rule that somebody stays an
// admin is about all of them.
import { fromMicroseconds, type Instant } from "../../../contracts/src/instant.ts";
import type { KnownPerson } from "../../../core/identity/identity-rules.ts";
import type { Operator } from "../../../ports/operators.ts";
import type { Sql } from "../../postgres/store-transaction.ts";

interface RawRow {
  readonly name: string;
  readonly roles: readonly string[];
  readonly development: boolean;
  readonly created_us: string;
  readonly disabled_us: string | null;
  readonly disabled_by: string | null;
  readonly factor_us: string | null;
}

const factorOf = `(select max(enrolled_us) from second_factor where actor = 'operator:' || name and secret_sealed is not null)`;
const columns = `name, roles, development, created_us, disabled_us, disabled_by, ${factorOf} as factor_us`;

/** Everybody, locked until the transaction ends. */
export async function lockPeople(sql: Sql): Promise<readonly KnownPerson[]> {
  const found = await sql.write({
    name: "operator_lock",
    text: "select name, roles, development, disabled_us from operator order by name for update",
  });
  return found.rows.map((row: Pick<RawRow, "name" | "roles" | "development" | "disabled_us">) => ({
    name: row.name,
    roles: row.roles,
    isDisabled: row.disabled_us !== null,
    isDevelopment: row.development,
  }));
}

export async function listOperators(
  sql: Sql,
  { countMax, after }: { readonly countMax: number; readonly after?: string | undefined },
): Promise<readonly Operator[]> {
  const found = await sql.read({
    text: `select ${columns} from operator where $2::text is null or name > $2 order by name limit $1`,
    values: [countMax, after ?? null],
  });
  return found.rows.map(operatorOf);
}

/** Whom an external issuer keeps and who has a second factor here; what they may do is in their tokens. */
export async function listFactorOwners(
  sql: Sql,
  { countMax, after }: { readonly countMax: number; readonly after?: string | undefined },
): Promise<readonly Operator[]> {
  const found = await sql.read({
    text: `select substr(actor, 10) as name, '{}'::text[] as roles, false as development, min(enrolled_us) as created_us,
             null as disabled_us, null as disabled_by, max(enrolled_us) as factor_us
           from second_factor
           where secret_sealed is not null and actor like 'operator:%' and ($2::text is null or substr(actor, 10) > $2)
           group by actor order by name limit $1`,
    values: [countMax, after ?? null],
  });
  return found.rows.map(operatorOf);
}

export async function findOperator(sql: Sql, name: string): Promise<Operator | undefined> {
  const found = await sql.read({ text: `select ${columns} from operator where name = $1`, values: [name] });
  const row: RawRow | undefined = found.rows[0];
  return row === undefined ? undefined : operatorOf(row);
}

function operatorOf(row: RawRow): Operator {
  const instantOf = (text: string): Instant => fromMicroseconds(Number(text));
  return {
    name: row.name,
    roles: row.roles,
    isDevelopment: row.development,
    createdAt: instantOf(row.created_us),
    ...(row.disabled_us === null ? {} : { disabledAt: instantOf(row.disabled_us) }),
    ...(row.disabled_by === null ? {} : { disabledBy: row.disabled_by }),
    ...(row.factor_us === null ? {} : { factorSince: instantOf(row.factor_us) }),
  };
}

interface NewOperator {
  readonly name: string;
  readonly roles: readonly string[];
  readonly passwordHash: string;
  readonly at: Instant;
}

/** Somebody of that name who was disabled is let in again, with this password. */
export async function putOperator(sql: Sql, { name, roles, passwordHash, at }: NewOperator): Promise<void> {
  await sql.write({
    text: `insert into operator (name, password_hash, roles, development, created_us) values ($1, $2, $3, false, $4)
           on conflict (name) do update set password_hash = $2, roles = $3, disabled_us = null, disabled_by = null`,
    values: [name, passwordHash, [...roles], at],
  });
}

export async function setRoles(sql: Sql, name: string, roles: readonly string[]): Promise<void> {
  await sql.write({ text: "update operator set roles = $2 where name = $1", values: [name, [...roles]] });
}

export async function setDisabled(sql: Sql, name: string, at: Instant, by: string): Promise<void> {
  await sql.write({
    text: "update operator set disabled_us = $2, disabled_by = $3 where name = $1",
    values: [name, at, by],
  });
}
