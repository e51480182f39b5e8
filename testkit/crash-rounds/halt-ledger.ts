// What the people of the halts' crash rounds asked for and were told, and what the database has of it: rows and events, read anew for every verdict.
import type pg from "pg";
import type {
  ActiveHalt,
  HaltLifted,
  HaltStep,
  ResumeEnded,
  ResumeRequested,
} from "../../contracts/src/records/halt.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { subjects } from "../../contracts/src/subjects.ts";

/** An attempt to lift exactly these. */
export interface LiftAsked {
  readonly haltIds: readonly string[];
  readonly requestedBy: string;
  readonly cosignedBy: string;
  /** Of a request for everything. */
  readonly requestId?: string;
  wasAnswered: boolean;
}

export interface HaltLedger {
  /** Halts of which a caller was told that they are in force. */
  readonly answered: Set<string>;
  /** Halts whose request got no answer. */
  readonly unanswered: Set<string>;
  readonly lifts: LiftAsked[];
}

export interface HaltRow {
  readonly haltId: string;
  readonly severity: ActiveHalt["severity"];
  readonly fundId: string;
  readonly strategyId: string;
  readonly requestedBy: string;
  readonly epoch: number;
  readonly liftedEpoch: number | undefined;
}

export interface HaltFacts {
  readonly rows: readonly HaltRow[];
  readonly epoch: number;
  /** `STEP halt_id`. */
  readonly steps: readonly string[];
  /** Ids of requests for everything that ended by a lift. */
  readonly signed: readonly string[];
  readonly reported: {
    readonly requested: readonly ActiveHalt[];
    readonly steps: readonly HaltStep[];
    readonly lifted: readonly HaltLifted[];
    readonly asked: readonly ResumeRequested[];
    readonly ended: readonly ResumeEnded[];
  };
}

export function createLedger(): HaltLedger {
  return { answered: new Set(), unanswered: new Set(), lifts: [] };
}

/** In one state of the database. */
export async function readFacts(owner: pg.Pool): Promise<HaltFacts> {
  const client = await owner.connect();
  try {
    await client.query("begin isolation level repeatable read read only");
    const rows = await client.query("select * from portcullis.halt order by epoch");
    const epoch = await client.query("select epoch from portcullis.halt_epoch");
    const steps = await client.query("select step || ' ' || halt_id as name from portcullis.halt_step");
    const signed = await client.query(
      "select request_id from portcullis.resume_request where content->'ended'->>'outcome' = 'lifted'",
    );
    const of = async <Payload>({ name }: Subject<Payload>): Promise<Payload[]> => {
      const text = "select convert_from(payload, 'UTF8') as text from portcullis.outbox where subject = $1 order by id";
      return (await client.query<{ text: string }>(text, [name])).rows.map((row) => JSON.parse(row.text) as Payload);
    };
    const reported = {
      requested: await of(subjects.haltRequested),
      steps: await of(subjects.haltStep),
      lifted: await of(subjects.haltLifted),
      asked: await of(subjects.resumeRequested),
      ended: await of(subjects.resumeEnded),
    };
    await client.query("commit");
    return {
      rows: rows.rows.map((row) => ({
        haltId: row.halt_id,
        severity: row.severity,
        fundId: row.fund_id,
        strategyId: row.strategy_id ?? "",
        requestedBy: row.requested_by,
        epoch: Number(row.epoch),
        liftedEpoch: row.lifted_epoch === null ? undefined : Number(row.lifted_epoch),
      })),
      epoch: Number(epoch.rows[0]?.epoch),
      steps: steps.rows.map((row) => row.name as string),
      signed: signed.rows.map((row) => row.request_id as string),
      reported,
    };
  } finally {
    client.release();
  }
}

export const inForce = ({ rows }: HaltFacts): readonly HaltRow[] =>
  rows.filter(({ liftedEpoch }) => liftedEpoch === undefined);
