// What the table of who may halt and lift is run on: a platform, in memory or real, with people made for one row each, halts that stand, requests that
// wait, and its audit log to look into.
import type { GrpcAddress } from "../../adapters/grpc/listener.ts";
import { readEntry } from "../../core/audit/entry.ts";
import type { Code, RequestState, Who } from "./rows.ts";
import type { Request, SurfaceAnswer } from "./surface-answer.ts";

export interface TableCaller {
  /** Absent: shows nothing. */
  readonly token?: string;
  /** As records name them; empty when they proved nothing. */
  readonly actor: string;
  readonly kind: "operator" | "service" | "nobody";
}

/** The halts in force before a row, by what they stop. */
export interface Standing {
  readonly strategy: string;
  readonly fund: string;
  readonly firm: string;
}

/** A chain entry and the event that it is of. */
export interface FoundEntry {
  readonly eventId: string;
  readonly action: string;
  readonly actor: string;
  /** Of the event. */
  readonly data: Readonly<Record<string, unknown>>;
}

export type SignedState = Exclude<RequestState, "unknown">;

export interface HaltTableFixture {
  readonly grpc: Readonly<Record<"Operations" | "RiskEngine", GrpcAddress>>;
  /** Of the operators' listener. */
  readonly url: string;
  readonly publicUrl: string;
  /** Somebody new, whom no limit of an earlier row touches. */
  caller(who: Exclude<Who, `${string}requester${string}`>, factor?: "enrolled" | "none"): Promise<TableCaller>;
  /** The same person again, or another one of that name. */
  again(caller: TableCaller, as: "in a second session" | "somebody else of that name"): Promise<TableCaller>;
  codeOf(caller: TableCaller, kind: Exclude<Code, "missing" | "none set up">): Promise<string>;
  /** Nothing is in force and nothing waits but these three: alpha-momentum's, alpha's and the firm's. */
  stand(): Promise<Standing>;
  /** One halt more, of the fund beta. */
  raise(): Promise<string>;
  /** Has the time of a request passed. */
  expire(requestId: string): Promise<void>;
  inForce(): Promise<readonly string[]>;
  /** Who set the loss baselines of a fund, newest first. */
  baselinesSetBy(fundId: string): Promise<readonly string[]>;
  /** Asks the halt manager, for the scene of a row. */
  askDirectly(by: TableCaller, request: Request): Promise<SurfaceAnswer>;
  /** A moment of the record. */
  mark(): Promise<number>;
  /** What was reported since then, as entries of the audit log; waits until all of it is there, and at least so many attempts. */
  entriesSince(mark: number, attemptsMin: number): Promise<readonly FoundEntry[]>;
  close(): Promise<void>;
}

export function foundEntry(eventId: string, text: Uint8Array): FoundEntry {
  const entry = readEntry(text);
  if (entry === undefined) throw new Error("something in the audit log is no entry");
  return { eventId, action: entry.action, actor: entry.actor, data: entry.data["payload"] as FoundEntry["data"] };
}

type PersonOf = "viewer" | "risk_officer" | "admin" | "operator" | "operator and risk_officer";

export function rolesOf(who: PersonOf): readonly Exclude<PersonOf, "operator and risk_officer">[] {
  return who === "operator and risk_officer" ? ["operator", "risk_officer"] : [who];
}
