// The rows of machines' tokens. A statement that would change nothing is not sent: each one moves the epoch, and every process of
// the platform would read everything again.
import { isOperation } from "../../contracts/src/authority.ts";
import { fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import type { ServiceToken } from "../../ports/identity.ts";
import type { Sql } from "../postgres/store-transaction.ts";

export interface TokenRow extends ServiceToken {
  /** Made for trying things out, rotated from such a one, or made by a development operator: gone in production. */
  readonly development: boolean;
}

interface RawRow {
  readonly id: string;
  readonly name: string;
  readonly operations: readonly string[];
  readonly funds: readonly string[] | null;
  readonly nats_logins: readonly string[] | null;
  readonly development: boolean;
  readonly created_by: string;
  readonly created_us: string;
  readonly expires_us: string;
  readonly revoked_us: string | null;
  readonly rotated_to: string | null;
  readonly cosigned_by: string | null;
  readonly used_us: string | null;
}

const columns =
  "id, name, operations, funds, nats_logins, development, created_by, created_us, expires_us, revoked_us, rotated_to, cosigned_by, " +
  "(select used_us from service_token_use where token_id = id) as used_us";
/** Dead ones are purged after a month and live ones are bounded, so that this is never reached in earnest. */
const listMax = 10_000;

function rowOf(raw: RawRow): TokenRow {
  return {
    id: raw.id,
    name: raw.name,
    operations: raw.operations.filter(isOperation),
    ...(raw.funds === null ? {} : { funds: raw.funds }),
    ...(raw.nats_logins === null ? {} : { natsLogins: raw.nats_logins }),
    development: raw.development,
    createdBy: raw.created_by,
    createdAt: fromMicroseconds(Number(raw.created_us)),
    expiresAt: fromMicroseconds(Number(raw.expires_us)),
    ...(raw.revoked_us === null ? {} : { revokedAt: fromMicroseconds(Number(raw.revoked_us)) }),
    ...(raw.rotated_to === null ? {} : { rotatedTo: raw.rotated_to }),
    ...(raw.cosigned_by === null ? {} : { cosignedBy: raw.cosigned_by }),
    ...(raw.used_us === null ? {} : { lastUsedAt: fromMicroseconds(Number(raw.used_us)) }),
  };
}

export async function listTokens(
  sql: Sql,
  { countMax, after }: { readonly countMax: number; readonly after?: string | undefined } = { countMax: listMax },
): Promise<readonly TokenRow[]> {
  const found = await sql.read({
    text: `select ${columns} from service_token
           where $2::text is null
             or (-created_us, id) > (select -created_us, id from service_token where id = $2)
           order by created_us desc, id limit $1`,
    values: [Math.min(countMax, listMax), after ?? null],
  });
  return found.rows.map(rowOf);
}

/** Locked until the transaction ends. */
export async function findToken(sql: Sql, id: string): Promise<TokenRow | undefined> {
  const found = await sql.write({
    text: `select ${columns} from service_token where id = $1 for update`,
    values: [id],
  });
  const raw: RawRow | undefined = found.rows[0];
  return raw === undefined ? undefined : rowOf(raw);
}

/** Those that work and that this person asked for or signed, locked. */
export async function findTokensOf(sql: Sql, actor: string, at: Instant): Promise<readonly TokenRow[]> {
  const found = await sql.write({
    text: `select ${columns} from service_token
           where (created_by = $1 or cosigned_by = $1) and revoked_us is null and expires_us > $2
           order by id for update`,
    values: [actor, at],
  });
  return found.rows.map(rowOf);
}

/** A token that a start made lives on for as long again. */
export async function prolongToken(sql: Sql, id: string, expiresAt: Instant): Promise<void> {
  await sql.write({ text: "update service_token set expires_us = $2 where id = $1", values: [id, expiresAt] });
}

/** Those of the development operators, with their hashes, locked. */
export async function findDevelopmentTokens(
  sql: Sql,
): Promise<readonly { readonly row: TokenRow; readonly hash: string }[]> {
  const found = await sql.write({
    text: `select ${columns}, secret_hash from service_token where development order by id for update`,
  });
  return found.rows.map((raw: RawRow & { readonly secret_hash: string }) => ({
    row: rowOf(raw),
    hash: raw.secret_hash,
  }));
}

/** Whether this person is one of those who exist only outside production; the same name at another issuer is somebody else. */
export async function isDevelopmentOperator(sql: Sql, subject: string): Promise<boolean> {
  const found = await sql.read({
    text: "select 1 from operator, identity_issuer where development and issuer || '|' || name = $1",
    values: [subject],
  });
  return found.rowCount === 1;
}

export async function countLive(sql: Sql, at: Instant): Promise<number> {
  const found = await sql.read({
    text: "select count(*)::int as live from service_token where revoked_us is null and expires_us > $1",
    values: [at],
  });
  return found.rows[0]?.live;
}

/** The name of another machine's token that works and names one of these logins. */
export async function tokenOfLogins(
  sql: Sql,
  { name, natsLogins }: { readonly name: string; readonly natsLogins?: readonly string[] | undefined },
  at: Instant,
): Promise<string | undefined> {
  if (natsLogins === undefined) return undefined;
  const found = await sql.read({
    text: `select name from service_token
           where nats_logins && $1::text[] and name <> $2 and revoked_us is null and expires_us > $3
           order by created_us desc, id limit 1`,
    values: [[...natsLogins], name, at],
  });
  return found.rows[0]?.name;
}

export async function insertToken(sql: Sql, row: TokenRow, secretHash: string): Promise<void> {
  await sql.write({
    text: `insert into service_token
             (id, name, secret_hash, operations, development, created_by, created_us, expires_us, cosigned_by, funds, nats_logins)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    values: [
      row.id,
      row.name,
      secretHash,
      [...row.operations],
      row.development,
      row.createdBy,
      row.createdAt,
      row.expiresAt,
      row.cosignedBy ?? null,
      row.funds === undefined ? null : [...row.funds],
      row.natsLogins === undefined ? null : [...row.natsLogins],
    ],
  });
}

/** After a rotation. */
export async function endToken(sql: Sql, id: string, expiresAt: Instant, rotatedTo: string): Promise<void> {
  await sql.write({
    text: "update service_token set expires_us = $2, rotated_to = $3 where id = $1",
    values: [id, expiresAt, rotatedTo],
  });
}

export async function revokeToken(sql: Sql, id: string, actor: string, at: Instant): Promise<void> {
  await sql.write({
    text: "update service_token set revoked_us = $2, revoked_by = $3 where id = $1 and revoked_us is null",
    values: [id, at, actor],
  });
}
