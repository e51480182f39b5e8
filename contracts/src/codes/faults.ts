// Every fault: the world said no, and a caller may or may not try again.
import { type AnswerCode, exitCodes, fault } from "./shape.ts";

export const faults = {
  // The request itself, whoever asks and whatever for.
  INVALID_ARGUMENT: fault("The request is not one that this procedure understands.", "INVALID_ARGUMENT"),
  NOT_FOUND: fault("There is nothing under that name.", "NOT_FOUND"),
  UNAUTHENTICATED: fault("The caller did not prove who they are.", "UNAUTHENTICATED"),
  PERMISSION_DENIED: fault("The caller is known and may not do this.", "PERMISSION_DENIED"),
  FUND_NOT_YOURS: fault(
    "The token names the funds that it speaks of, and this is about another one.",
    "PERMISSION_DENIED",
  ),
  UNIMPLEMENTED: fault("This procedure has a name but no body yet.", "UNIMPLEMENTED"),
  DEADLINE_EXCEEDED: fault("The answer would have come after the caller's deadline.", "DEADLINE_EXCEEDED"),
  RESOURCE_EXHAUSTED: fault("More is asked than can be done in time, so it is refused early.", "RESOURCE_EXHAUSTED"),
  TOO_MANY_STREAMS: fault("As many streams are open as may be: of one person, or of all.", "RESOURCE_EXHAUSTED"),
  CANCELLED: fault("The caller hung up before the answer.", "CANCELLED"),
  INTERNAL: fault("Something inside is wrong; the log has the reason.", "INTERNAL"),
  MESSAGE_TOO_LARGE: fault("The message is larger than the limit.", "RESOURCE_EXHAUSTED", {
    http: 413,
    exit: exitCodes.usage,
  }),

  FOREIGN_EVENT_REFUSED: fault(
    "An event of a foreign system is about what nobody knows, or has impossible figures; it reached no books and used up its number.",
    "INVALID_ARGUMENT",
  ),

  FOREIGN_FILL_HELD: fault(
    "A fill of a foreign system could not be taken, and its fund waits until somebody has dealt with it.",
    "INVALID_ARGUMENT",
  ),

  FILING_NOT_IN_FILE: fault(
    "The record is durable, and its line is not in the day's submission file yet; the same event again answers when it is.",
    "UNAVAILABLE",
  ),
  FILING_NAME_TAKEN: fault("Something else lies at the regulator's under a submission file's name.", "ABORTED"),
  FILING_UNREACHABLE: fault("The way to the regulator does not work; the sentence says where it ends.", "UNAVAILABLE"),
  FILING_WORK_DIED: fault("The process that seals or sends submission files died.", "UNAVAILABLE"),

  FILING_LOG_BROKEN: fault(
    "The audit log does not hold together where it would have to say what a regulator must hear: nothing is proved by it.",
    "FAILED_PRECONDITION",
    { exit: exitCodes.verificationFailed },
  ),
  FILING_DAY_TOO_LARGE: fault(
    "A fund's orders of a day are more than one look can hold against the audit log.",
    "RESOURCE_EXHAUSTED",
  ),
  GITHUB_REFUSED: fault("GitHub refused what it was asked.", "FAILED_PRECONDITION"),
  GITHUB_UNAVAILABLE: fault("GitHub does not answer, or asks us to wait.", "UNAVAILABLE"),

  // Idempotency keys.
  IDEMPOTENCY_KEY_REUSED: fault("The key came with another body before.", "ABORTED"),
  IDEMPOTENCY_IN_PROGRESS: fault("The first request under this key has no answer yet.", "ABORTED"),
  IDEMPOTENT_ANSWER_NOT_KEPT: fault("It was done under this key before, and its answer is not kept.", "ABORTED"),
  IDEMPOTENT_OUTCOME_UNKNOWN: fault(
    "The first request under this key was cut off, perhaps after it was done.",
    "ABORTED",
  ),
  IDEMPOTENCY_KEYS_FULL: fault("This caller has as many keys as one may have in a day.", "RESOURCE_EXHAUSTED"),

  // The store.
  STORE_UNAVAILABLE: fault("The database does not answer.", "UNAVAILABLE"),
  STORE_COMMIT_UNKNOWN: fault(
    "The answer to a commit was lost; whether it became durable must be asked.",
    "UNAVAILABLE",
  ),
  STORE_CONFLICT: fault("Concurrent changes collided more often than the bound on retries allows.", "ABORTED"),
  STORE_TOO_NEW: fault("The database was written by a newer version of this program.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  STORE_TOO_OLD: fault("The database server is older than the oldest supported version.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  STORE_MIGRATION_CHANGED: fault("A migration that already ran has been edited since.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  STORE_MIGRATION_FAILED: fault("A migration could not be run; the database is as it was before it.", "INTERNAL"),
  STORE_FORBIDDEN: fault("The database refused what this role may not do.", "PERMISSION_DENIED", {
    exit: exitCodes.failed,
  }),
  DATABASE_FOREIGN: fault("The database belongs to another installation than the data folder.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  DISK_NOT_MEASURED: fault("How much of a disk is free cannot be measured.", "UNAVAILABLE"),
  DATABASE_START_FAILED: fault("The embedded database could not be started.", "UNAVAILABLE"),

  SERVICE_STANDING_BY: fault("Another process does this service's work; this one stands by.", "UNAVAILABLE"),

  // The bus.
  BUS_UNAVAILABLE: fault("The message bus does not answer.", "UNAVAILABLE"),
  BUS_UNSUPPORTED: fault("The message bus server cannot do what is needed of it.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  BUS_PAYLOAD_INVALID: fault("An event's payload does not match its subject's schema.", "INVALID_ARGUMENT", {
    exit: exitCodes.failed,
  }),
  BUS_SUBJECT_FOREIGN: fault("No program outside the platform may publish this subject.", "INVALID_ARGUMENT"),

  // Secrets.
  SECRETS_UNAVAILABLE: fault("The secrets store does not answer.", "UNAVAILABLE"),
  SECRETS_WRONG_KEY: fault("The key or passphrase does not open the secrets store.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  SECRETS_CONFLICT: fault("The secret was changed by somebody else in between.", "ABORTED"),
  SECRETS_CORRUPT: fault("The secrets file is damaged.", "DATA_LOSS", { exit: exitCodes.failed }),
  SECRETS_BAD_PATH: fault("A secret's path is not well formed.", "INVALID_ARGUMENT"),
  SECRETS_FORBIDDEN: fault("The secrets store refused this caller.", "PERMISSION_DENIED"),

  // Starting and stopping.
  CONFIGURATION_INVALID: fault("The configuration has mistakes; each is listed.", "INVALID_ARGUMENT"),
  DATA_FOLDER_IN_USE: fault("Another running program holds the data folder.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  DATA_FOLDER_UNUSABLE: fault("The data folder cannot be created, read or written.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  PORT_IN_USE: fault("Another program listens on that port.", "FAILED_PRECONDITION", { exit: exitCodes.failed }),
  SERVICE_START_FAILED: fault("A service could not be started.", "UNAVAILABLE", { exit: exitCodes.failed }),
  SERVICE_UNAVAILABLE: fault("A service does not answer.", "UNAVAILABLE"),
  SERVICE_STOPPING: fault("The service is shutting down and takes no new work.", "UNAVAILABLE"),

  // What the platform talks to.
  BROKER_UNAVAILABLE: fault("The broker does not answer; the fate of what was sent is unknown.", "UNAVAILABLE"),
  QUOTES_UNAVAILABLE: fault("The quotes feed does not answer.", "UNAVAILABLE"),
  MAIL_UNAVAILABLE: fault("The mail server does not take messages.", "UNAVAILABLE"),
  REPORT_STORAGE_UNAVAILABLE: fault("The storage for reports does not take files.", "UNAVAILABLE"),
  REPORT_STORAGE_CONFLICT: fault("The storage for reports has another file under the same name.", "ABORTED"),
  CHAT_UNAVAILABLE: fault("The chat service does not take messages.", "UNAVAILABLE"),
  MODEL_UNREADABLE: fault("The language model's answer does not have the agreed form.", "INTERNAL"),
  MODEL_UNAVAILABLE: fault("The language model does not answer.", "UNAVAILABLE"),
  IDENTITY_UNAVAILABLE: fault("The identity provider does not answer.", "UNAVAILABLE"),

  // The record of what happened.
  CHAIN_INTEGRITY: fault("The audit chain is broken: an entry was changed, removed or put in.", "FAILED_PRECONDITION", {
    exit: exitCodes.verificationFailed,
  }),
} as const satisfies Readonly<Record<string, AnswerCode>>;

export type FaultCode = keyof typeof faults;
