// What second factors, machines' tokens and logins are refused with.
import { type AnswerCode, denial, exitCodes } from "./shape.ts";

export const identityDenials = {
  // Second factors.
  SECOND_FACTOR_MISSING: denial("The caller has not set up a second factor.", "FAILED_PRECONDITION", {
    exit: exitCodes.forbidden,
  }),
  SECOND_FACTOR_WRONG: denial("The one-time code is wrong, expired or already used.", "PERMISSION_DENIED"),
  SECOND_FACTOR_LOCKED: denial(
    "Too many wrong codes in a row; the answer says how long to wait.",
    "RESOURCE_EXHAUSTED",
    {
      exit: exitCodes.forbidden,
    },
  ),
  SECOND_FACTOR_UNCHECKED: denial(
    "The gateway, which checks second factors, did not answer or could not check the code: nothing was lifted.",
    "UNAVAILABLE",
  ),
  SECOND_FACTOR_NOT_BEGUN: denial("There is no enrolment to confirm, or it ran out.", "FAILED_PRECONDITION", {
    exit: exitCodes.conflict,
  }),
  STEP_UP_REQUIRED: denial("This action needs a fresh proof of the second factor.", "PERMISSION_DENIED"),
  STEP_UP_WRONG: denial(
    "The proof is not for this caller, action and parameters, or it was used or ran out.",
    "PERMISSION_DENIED",
  ),

  SECRET_NOT_WRITABLE: denial(
    "People write only the secrets of outside services: under chat, mail, model, broker, storage and filings.",
    "PERMISSION_DENIED",
  ),

  // Tokens of machines, and logins.
  SERVICE_TOKEN_NOT_ACTIVE: denial("There is no such token, or it was revoked or ran out.", "NOT_FOUND", {
    exit: exitCodes.conflict,
  }),
  SERVICE_TOKEN_OPERATION_UNKNOWN: denial("The token names an operation that no machine may call.", "INVALID_ARGUMENT"),
  SERVICE_TOKEN_LIMIT: denial(
    "There are as many tokens of machines as there may be; revoke some first.",
    "FAILED_PRECONDITION",
    { exit: exitCodes.conflict },
  ),
  SERVICE_TOKEN_LOGIN_TAKEN: denial("Another machine's token names this login of NATS.", "ABORTED"),
  SERVICE_TOKEN_LIFE: denial("A machine's token lives for 90 days at most.", "INVALID_ARGUMENT"),
  OPERATOR_UNKNOWN: denial("There is no such operator.", "NOT_FOUND", { exit: exitCodes.refused }),
  OPERATOR_EXISTS: denial("There is an operator of that name already.", "ALREADY_EXISTS"),
  OPERATOR_NAME_INVALID: denial("A new name has two dots in a row, or a separator at an end.", "INVALID_ARGUMENT"),
  OPERATOR_ROLE_UNKNOWN: denial(
    "No person may have one of these roles, or none is named; the reason lists those that one may have.",
    "INVALID_ARGUMENT",
  ),
  OPERATOR_LAST_ADMIN: denial("Without this person nobody would be an admin.", "FAILED_PRECONDITION"),
  OPERATOR_DISABLED: denial("The operator is disabled.", "FAILED_PRECONDITION"),
  OPERATOR_NOT_ADMIN: denial("Whoever calls was an admin when they logged in and is none now.", "PERMISSION_DENIED"),
  OPERATOR_DEVELOPMENT: denial(
    "The file of the development operators says who they are; only disabling one is done here.",
    "FAILED_PRECONDITION",
  ),
  OPERATOR_LIMIT: denial("There are as many operators as there may be.", "FAILED_PRECONDITION", {
    exit: exitCodes.conflict,
  }),
  OPERATORS_EXTERNAL: denial("People are kept by your own issuer and are changed there.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  IDENTITY_REASON_MISSING: denial("This is not done without a reason.", "FAILED_PRECONDITION"),
  IDENTITY_SAME_PERSON: denial("Requester and co-signer must be two people.", "PERMISSION_DENIED"),
  IDENTITY_REQUEST_UNKNOWN: denial("There is no such request to sign.", "NOT_FOUND", { exit: exitCodes.refused }),
  UNAUDITED_CHANGE_UNKNOWN: denial("There is no such change without an event.", "NOT_FOUND", {
    exit: exitCodes.refused,
  }),
  UNAUDITED_CHANGE_OWN: denial(
    "Whoever asks or signs was put in or changed without an event, and accepts nothing.",
    "PERMISSION_DENIED",
  ),
  IDENTITY_REQUEST_VOID: denial(
    "The request was signed already, or whoever made it may not any more.",
    "FAILED_PRECONDITION",
  ),
  IDENTITY_REQUEST_EXPIRED: denial("The request was not co-signed in time.", "FAILED_PRECONDITION"),
  IDENTITY_REQUEST_LIMIT: denial("Too many requests wait for a second admin.", "FAILED_PRECONDITION", {
    exit: exitCodes.conflict,
  }),
  SIGNING_KEYS_EXTERNAL: denial("The keys belong to your own issuer and are rotated there.", "FAILED_PRECONDITION", {
    exit: exitCodes.failed,
  }),
  DEVELOPMENT_LOGIN_OFF: denial("Development operators do not exist here.", "PERMISSION_DENIED"),
} as const satisfies Readonly<Record<string, AnswerCode>>;
