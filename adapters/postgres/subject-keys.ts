// Subject keys on PostgreSQL. A person's key in force is one row by a unique index, so that of two who add one at once only one succeeds.
import type pg from "pg";
import { Fault } from "../../contracts/src/fault.ts";
import type { SubjectKey, SubjectKeyName, SubjectKeys } from "../../ports/subject-keys.ts";
import { storeFault } from "./store-fault.ts";

interface Row {
  readonly id: string;
  readonly person: string;
  readonly wrapped: Uint8Array | null;
}

const columns = "id::text as id, person, wrapped";
const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createPostgresSubjectKeys({ pool }: { readonly pool: pg.Pool }): SubjectKeys {
  async function ask(doing: string, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    try {
      return (await pool.query({ text, values: [...values] })).rows;
    } catch (thrown) {
      throw storeFault(thrown, doing);
    }
  }

  async function inForce(persons: readonly string[]): Promise<ReadonlyMap<string, SubjectKey>> {
    const text = `select ${columns} from audit_subject_key where person = any ($1::text[]) and wrapped is not null`;
    const rows = await ask("looking for subject keys", text, [persons]);
    return new Map(rows.flatMap((row) => (row.wrapped === null ? [] : [[row.person, keyOf(row, row.wrapped)]])));
  }

  return {
    inForce,
    async add({ id, person, wrapped }) {
      const text = `insert into audit_subject_key (id, person, wrapped) values ($1, $2, $3) on conflict do nothing`;
      await ask("keeping a subject key", text, [id, person, Buffer.from(wrapped)]);
      const kept = (await inForce([person])).get(person);
      // Destroyed in the very moment: whoever asks again gets another one.
      if (kept === undefined)
        throw new Fault("STORE_CONFLICT", `the subject key ${id} is gone again`, { retry: "now" });
      return kept;
    },
    async find(ids) {
      const known = ids.filter((id) => uuidForm.test(id));
      const text = `select ${columns} from audit_subject_key where id = any ($1::uuid[])`;
      const rows = await ask("looking for subject keys", text, [known]);
      return new Map(rows.map((row) => [row.id, row.wrapped === null ? "destroyed" : keyOf(row, row.wrapped)]));
    },
    async destroy(person) {
      const text = "update audit_subject_key set wrapped = null where person = $1 and wrapped is not null";
      await ask("destroying a subject key", text, [person]);
    },
    async unaudited(person) {
      const text = `select ${columns} from audit_subject_key
        where wrapped is null and not told and ($1::text is null or person = $1) order by id limit 1000`;
      const rows = await ask("looking for destroyed subject keys", text, [person ?? null]);
      return rows.map((row): SubjectKeyName => ({ id: row.id, person: row.person }));
    },
    async markReported(id) {
      const text = "update audit_subject_key set told = true where id = $1 and wrapped is null";
      await ask("marking a destroyed subject key", text, [id]);
    },
  };
}

function keyOf({ id, person }: Row, wrapped: Uint8Array): SubjectKey {
  return { id, person, wrapped: Uint8Array.from(wrapped) };
}
