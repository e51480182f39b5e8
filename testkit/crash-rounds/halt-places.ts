// Places in the middle of raising and lifting a halt at which a real database can be made to wait: a trigger asks for a lock that a round holds.
// A place before a statement is in the middle of its transaction; a place at the commit is after the COMMIT was sent, so whoever sent it can be
// killed while the database still commits.
import type pg from "pg";
import { eventually } from "../platform.ts";

const tables = {
  "latch, before its row": { on: "before insert on halt", rows: "" },
  "latch, at its commit": { on: "after insert on halt deferrable initially deferred", rows: "" },
  "adoption, before its row": { on: "before insert on halt_told", rows: "when (new.teller = 'operations')" },
  "BLOCKED, before its row": { on: "before insert on halt_step", rows: "when (new.step = 'BLOCKED')" },
  "CANCELLED, before its row": { on: "before insert on halt_step", rows: "when (new.step = 'CANCELLED')" },
  "NOTIFIED, before its row": { on: "before insert on halt_step", rows: "when (new.step = 'NOTIFIED')" },
  "NOTIFIED, at its commit": {
    on: "after insert on halt_step deferrable initially deferred",
    rows: "when (new.step = 'NOTIFIED')",
  },
  "request, before its row": { on: "before insert on resume_request", rows: "" },
  "request, at its commit": { on: "after insert on resume_request deferrable initially deferred", rows: "" },
  "code, at its commit": { on: "after update on second_factor deferrable initially deferred", rows: "" },
  "lift, before its rows": { on: "before update on halt", rows: "" },
  "lift, at its commit": { on: "after update on halt deferrable initially deferred", rows: "" },
} as const;

export type HaltPlace = keyof typeof tables;
const places = Object.keys(tables) as HaltPlace[];
const lockClass = 20_261_116;

const waiting = "create function portcullis.wait_at_place() returns trigger language plpgsql as $$ begin".concat(
  ` perform pg_advisory_xact_lock_shared(${lockClass}, tg_argv[0]::int); return new; end $$`,
);

/** Puts the triggers in; nobody waits at them until a round holds a place. */
export async function makePlaces(owner: pg.Pool): Promise<void> {
  const triggers = places.map((place, key) => {
    const { on, rows } = tables[place];
    const table = on.replace(/ on (\w+)/, " on portcullis.$1");
    const kind = on.includes("deferred") ? "constraint trigger" : "trigger";
    return `create ${kind} place_${key} ${table} for each row ${rows} execute function portcullis.wait_at_place(${key})`;
  });
  await owner.query([waiting, ...triggers].join(";\n"));
}

export interface HeldPlace {
  /** Resolves when somebody waits there; rejects when nobody came. */
  reached(): Promise<void>;
  /** Lets whoever waits go on. Harmless when the database has died meanwhile. */
  release(): void;
}

export async function holdPlace(owner: pg.Pool, place: HaltPlace): Promise<HeldPlace> {
  const key = places.indexOf(place);
  const client = await owner.connect();
  // The round kills the database under it.
  client.on("error", () => undefined);
  await client.query("select pg_advisory_lock($1, $2)", [lockClass, key]);
  let isReleased = false;
  return {
    reached: () =>
      eventually(`somebody comes to the place: ${place}`, async () => {
        const text =
          "select 1 from pg_locks where locktype = 'advisory' and classid = $1 and objid = $2 and not granted limit 1";
        return (await owner.query(text, [lockClass, key])).rowCount === 1;
      }),
    release() {
      if (isReleased) return;
      isReleased = true;
      // With its connection the lock goes, whatever state that is in.
      client.release(true);
    },
  };
}
