// Answers the one-time codes that come with requests to other services (ask-one-time-codes.ts): judged like those of a step-up (second-factors.ts), with the same
// locks and events. The answer is a row that only this login can write, bound to the person, the action and its parameters.
//
//  1. The question goes, the attempt counts and the answer comes in one transaction; of several gateways one takes it.
//  2. A question whose asker has given up is removed and not judged: the code stays unused.
//  3. One that cannot be judged is answered as well, so that nobody waits behind it.
import type { Denial } from "../../contracts/src/codes.ts";
import { messageOf } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { resumeValidMs } from "../../core/halts/halts.ts";
import type { Clock } from "../../ports/clock.ts";
import type { NamedAction } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import type { EventWriter } from "../../ports/store.ts";
import type { Timers } from "../../ports/timers.ts";
import { type KeptConnection, keepConnection, type OpenConnection } from "../postgres/bus/bus-connection.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { Sql } from "../postgres/store-transaction.ts";
import { lockFactor } from "./factor-rows.ts";
import type { Sealing } from "./sealing.ts";
import { refuse, showFactor, type Try } from "./second-factors.ts";
import { parametersHashOf } from "./step-up-proofs.ts";

/** How long somebody waits for an answer. */
export const questionMsMax = 5_000;
/** For what is done at once with the answer. */
const answerMsMax = 60_000;

/** What ask_code notifies. */
const askedChannel = "portcullis_code_question";

export interface AnswerCodesOptions {
  readonly store: PostgresStore;
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  /** A connection that hears of questions at once; without one they are found by looking. */
  readonly open?: OpenConnection;
  /** How often it looks; default one second. */
  readonly everyMs?: number;
}

export interface AnsweringCodes {
  /** Answers all that wait now: how many were taken. */
  round(): Promise<number>;
  close(): Promise<void>;
}

interface Question {
  readonly question_id: string;
  readonly subject: string;
  readonly actor: string;
  readonly action: NamedAction["action"];
  readonly parameters: NamedAction["parameters"];
  readonly code: string;
  readonly is_late: boolean;
}

/** A question and the transaction that it was taken in. */
interface Taken {
  readonly question: Question;
  readonly sql: Sql;
  readonly events: EventWriter;
  readonly at: Instant;
}

interface Answer {
  readonly actor: string;
  /** Undefined when it was accepted. */
  readonly denial: Denial | undefined;
}

const nowUs = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";
const oldest = "select question_id from code_question order by asked_us limit 1";

export function startAnsweringCodes(options: AnswerCodesOptions): AnsweringCodes {
  const { store, clock, timers, log, everyMs = 1_000 } = options;
  const closing = new AbortController();
  let asked = new AbortController();
  const hearing = options.open && hear(options, options.open, () => asked.abort());

  const judgeNext = () => answerNext((taken) => judge(taken, options.sealing));
  const refuseNext = () => answerNext(unjudged);

  /** Takes the next question and answers it; undefined when there is none. */
  async function answerNext(answer: (taken: Taken) => Promise<Answer>): Promise<true | undefined> {
    if (!(await isAsked())) return undefined;
    return store.transactSql("identity.code_answer", async ({ events }, sql) => {
      const question = await take(sql);
      if (question === undefined || question.is_late) return question && true;
      const taken = { question, sql, events, at: clock.now() };
      await save(taken, await answer(taken));
      return true;
    });
  }

  /** Looks before it takes: a transaction that writes would leave its mark every second. */
  function isAsked(): Promise<boolean> {
    const look = { name: "code_question_look", text: oldest };
    return store.transactSql("identity.code_answer", async (_unit, sql) => (await sql.read(look)).rowCount !== 0, {
      isOneStatement: true,
    });
  }

  async function round(): Promise<number> {
    for (let taken = 0; ; taken += 1) {
      const isTaken = await judgeNext().catch((thrown: unknown) => {
        log.warn("a one-time code could not be checked", { reason: messageOf(thrown) });
        return refuseNext();
      });
      if (isTaken === undefined || closing.signal.aborted) return taken;
    }
  }

  const living = (async () => {
    while (!closing.signal.aborted) {
      asked = new AbortController();
      await round().catch((thrown: unknown) =>
        log.warn("nobody's one-time codes can be checked", { reason: messageOf(thrown) }),
      );
      await timers.sleep(everyMs, AbortSignal.any([closing.signal, asked.signal]));
    }
  })();

  return {
    round,
    async close() {
      closing.abort();
      await living;
      await hearing?.close();
    },
  };
}

function hear(options: AnswerCodesOptions, open: OpenConnection, run: () => void): KeptConnection {
  const title = "the connection that hears of one-time codes";
  return keepConnection({
    ...options,
    title,
    open,
    async prepare(client) {
      client.on("notification", run);
      await client.query(`listen ${askedChannel}`);
    },
  });
}

async function take(sql: Sql): Promise<Question | undefined> {
  const taken = await sql.write({
    name: "code_question_take",
    text: `delete from code_question where question_id = (${oldest} for update skip locked)
           returning question_id, subject, actor, action, parameters, code, abs(${nowUs} - asked_us) > $1 as is_late`,
    values: [questionMsMax * 1_000],
  });
  return taken.rows[0];
}

/** Whose factor it is says its row; what the asker called them counts only where there is none. */
async function judge({ question, ...transaction }: Taken, sealing: Sealing): Promise<Answer> {
  const { subject, action, parameters, code } = question;
  const parametersHash = parametersHashOf(parameters);
  const row = await lockFactor(transaction.sql, sealing, subject);
  const actor = row?.actor ?? question.actor;
  const attempt: Try = { ...transaction, identity: { subject, actor }, named: { action, parameters }, parametersHash };
  const refusal =
    row?.secret === undefined
      ? await refuse(attempt, "totp", { code: "SECOND_FACTOR_MISSING" })
      : await showFactor(attempt, { ...row, secret: row.secret }, { kind: "totp", code });
  return { actor, denial: refusal?.denial };
}

/** The factor cannot be opened, or the parameters have no hash. */
async function unjudged({ question, ...transaction }: Taken): Promise<Answer> {
  const { subject, actor, action, parameters } = question;
  const named = { action, parameters };
  const attempt: Try = { ...transaction, identity: { subject, actor }, named, parametersHash: parametersHashOf({}) };
  const { denial } = await refuse(attempt, "totp", { code: "SECOND_FACTOR_UNCHECKED" });
  return { actor, denial };
}

/** A request to lift everything waits for its second person; every other answer is used at once or never. */
async function save({ sql, question, at }: Taken, { actor, denial }: Answer): Promise<void> {
  const isWaiting = question.action === "ResumeHalt" && question.parameters["kind"] === "ask";
  await sql.write({
    name: "code_answer_save",
    text: `insert into code_answer (question_id, subject, actor, action, parameters, accepted, denial, at_us, expires_us)
           values ($1, $2, $3, $4, $5, $6, $7, $8, ${nowUs} + $9)`,
    values: [
      question.question_id,
      question.subject,
      actor,
      question.action,
      JSON.stringify(question.parameters),
      denial === undefined,
      denial === undefined ? null : JSON.stringify(denial),
      at,
      (answerMsMax + (isWaiting ? resumeValidMs : 0)) * 1_000,
    ],
  });
}
