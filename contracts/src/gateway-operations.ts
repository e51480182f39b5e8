// The operations that are no procedure of a service: what the gateway and the identity provider do by themselves, and reading what the audit log
// holds sealed. Each is declared here once, with its routes, as those of the services are in the protos. A route that is in neither is not served.
// `whose` says whose that must be which a machine's token names (ownership/whose.ts); what people name is anyone's.
// What `tightens` is not refused for a character that cannot be seen; it is declared as in contracts/proto/portcullis/v1/options.proto.
// What is `repeatable` comes to the same when it is done again after it was cut off.
// What anyone may ask says of which share a caller without a token asks it, and what that costs (doors/open-shares.ts).
// No service hears of what is marked `auditsRefusals`: the gateway itself records who was refused it. The second factor has events of its own for that.

import { publicBarsCost } from "./doors/open-shares.ts";
import { githubbotOperations } from "./githubbot-operations.ts";

const people = ["viewer", "operator", "risk_officer", "admin"] as const;

export const gatewayOperations = {
  RestartAll: {
    sentence: "Restart the platform's five services in place.",
    allowed: ["operator"],
    reads: false,
    routes: {
      restartServices: "operator POST /v1/platform/restart",
    },
  },
  ListServices: {
    sentence: "See which processes run, since when, and how they are.",
    allowed: [...people, "service"],
    reads: true,
    routes: {
      listServices: "operator GET /v1/platform/services",
    },
  },
  ReadLogs: {
    sentence: "Read what a service has logged, also while it is dead.",
    allowed: ["operator", "risk_officer", "admin"],
    reads: true,
    routes: {
      readLogs: "operator GET /v1/platform/logs/:service",
    },
  },
  MakeReport: {
    sentence: "Have a report made of what the platform knows.",
    allowed: ["operator", "risk_officer", "admin"],
    reads: false,
    whose: ["anyone"],
    auditsRefusals: true,
    routes: {
      makeReport: "operator POST /v1/reports",
      runReportSchedule: "operator POST /v1/reports/schedules/:name/runs",
    },
  },
  ReadReports: {
    sentence: "See which reports were made, and read them.",
    allowed: [...people, "service"],
    reads: true,
    whose: ["every_fund"],
    routes: {
      listReports: "operator GET /v1/reports",
      getReport: "operator GET /v1/reports/:report_id",
      getReportDocument: "operator GET /v1/reports/:report_id/document",
      listReportSchedules: "operator GET /v1/reports/schedules",
      listReportRuns: "operator GET /v1/reports/schedules/:name/runs",
    },
  },
  ReadWebPages: {
    sentence: "Load the pages of the web desks; every figure on them is asked for with a login.",
    allowed: "anyone",
    reads: true,
    withoutToken: { share: "page", cost: 1 },
    routes: {},
  },
  ReadPersonalData: {
    sentence: "Read what the audit log holds sealed about persons.",
    allowed: ["risk_officer", "admin"],
    reads: true,
    routes: {},
  },
  ReadMarketData: {
    sentence: "Read prices, the funds' values and halts on the public port.",
    allowed: "anyone",
    reads: true,
    whose: ["anyone"],
    withoutToken: { share: "data", cost: 1, costs: { getPublicBars: publicBarsCost } },
    routes: {
      getPublicQuote: "public GET /v1/quotes/:symbol",
      getPublicQuotes: "public GET /v1/quotes",
      getPublicInstruments: "public GET /v1/instruments",
      getPublicBars: "public GET /v1/bars/:symbol",
      getPublicFunds: "public GET /v1/funds",
      getPublicHalts: "public GET /v1/halts",
    },
  },
  ReceiveTradingviewAlert: {
    sentence: "Send an alert of the charting platform; the fund's secret in it is the proof.",
    allowed: "anyone",
    reads: false,
    repeatable: true,
    whose: ["anyone"],
    withoutToken: { share: "alert", cost: 1 },
    routes: {
      receiveTradingviewAlert: "public POST /tradingview/webhook",
    },
  },
  ReadWebhookStatus: {
    sentence: "See who takes alerts, from where, and how old each fund's secret is.",
    allowed: people,
    reads: true,
    whose: ["anyone"],
    routes: {
      getWebhookStatus: "operator GET /v1/webhook",
    },
  },
  RotateWebhookSecret: {
    sentence: "Make a new webhook secret for a fund.",
    allowed: ["admin"],
    reads: false,
    whose: ["anyone"],
    tightens: "always",
    auditsRefusals: true,
    routes: {
      rotateWebhookSecret: "operator POST /v1/webhook/secrets/:fund_id/rotate",
    },
  },
  ...githubbotOperations,
  ReadHealth: {
    sentence: "Ask whether the platform can do its work.",
    allowed: "anyone",
    reads: true,
    withoutToken: { share: "health", cost: 1 },
    routes: {
      getHealth: "operator GET /v1/healthz",
      getPublicHealth: "public GET /v1/healthz",
    },
  },
  ReadSchema: {
    sentence:
      "Read the descriptions of our own interfaces: gRPC reflection, OpenAPI, AsyncAPI and the reference for people.",
    allowed: "anyone",
    reads: true,
    withoutToken: { share: "document", cost: 10 },
    routes: {
      getOpenApi: "operator GET /v1/openapi.json",
      getPublicOpenApi: "public GET /v1/openapi.json",
      getAsyncApi: "operator GET /v1/asyncapi.json",
      getPublicAsyncApi: "public GET /v1/asyncapi.json",
      getReference: "operator GET /docs",
      getPublicReference: "public GET /docs",
      getReferenceStyle: "operator GET /docs/style.css",
      getPublicReferenceStyle: "public GET /docs/style.css",
    },
  },
  ReadMetrics: {
    sentence: "Read the figures of every process.",
    allowed: [...people, "service"],
    reads: true,
    routes: {
      getMetrics: "operator GET /metrics",
    },
  },
  LogIn: {
    sentence: "Reach the login pages, the token endpoints and the published keys.",
    allowed: "anyone",
    reads: true,
    withoutToken: { share: "log_in", cost: 1 },
    routes: {
      getLoginConfiguration: "operator GET /.well-known/oauth-protected-resource",
    },
  },
  ReadIdentity: {
    sentence: "See who the platform takes you for.",
    allowed: "authenticated",
    reads: true,
    routes: {
      getIdentity: "operator GET /v1/auth/identity",
    },
  },
  LogOut: {
    sentence: "End your own session and its tokens.",
    allowed: "authenticated",
    reads: false,
    repeatable: true,
    routes: {
      logOut: "operator POST /v1/auth/logout",
    },
  },
  EnrolSecondFactor: {
    sentence: "Set up your own second factor.",
    allowed: people,
    reads: false,
    routes: {
      beginSecondFactor: "operator POST /v1/auth/second-factor",
      confirmSecondFactor: "operator POST /v1/auth/second-factor/confirm",
    },
  },
  StepUp: {
    sentence: "Prove your second factor for one named action.",
    allowed: people,
    reads: false,
    // The action may tighten, and what is proved is what it will be sent.
    tightens: "always",
    routes: {
      stepUp: "operator POST /v1/auth/step-up",
    },
  },
  ListServiceTokens: {
    sentence: "List the tokens of machines; never their values.",
    allowed: ["admin"],
    reads: true,
    routes: {
      listServiceTokens: "operator GET /v1/service-tokens",
    },
  },
  IssueServiceToken: {
    sentence: "Give a machine a token for named operations.",
    allowed: ["admin"],
    reads: false,
    auditsRefusals: true,
    routes: {
      issueServiceToken: "operator POST /v1/service-tokens",
    },
  },
  RotateServiceToken: {
    sentence: "Replace a machine's token by a new one.",
    allowed: ["admin"],
    reads: false,
    tightens: "always",
    auditsRefusals: true,
    routes: {
      rotateServiceToken: "operator POST /v1/service-tokens/:token_id/rotate",
    },
  },
  RevokeServiceToken: {
    sentence: "Take a machine's token away.",
    allowed: ["admin"],
    reads: false,
    tightens: "always",
    auditsRefusals: true,
    routes: {
      revokeServiceToken: "operator DELETE /v1/service-tokens/:token_id",
    },
  },
  RevokeSessions: {
    sentence: "End every session of a person.",
    allowed: ["admin"],
    reads: false,
    tightens: "always",
    repeatable: true,
    auditsRefusals: true,
    routes: {
      revokeSessions: "operator POST /v1/auth/sessions/revoke",
    },
  },
  ListOperators: {
    sentence: "List the people of the embedded provider, their roles and whether they may log in.",
    allowed: ["admin"],
    reads: true,
    routes: {
      listOperators: "operator GET /v1/auth/operators",
    },
  },
  AddOperator: {
    sentence: "Let another person log in; in production a second admin signs.",
    allowed: ["admin"],
    reads: false,
    auditsRefusals: true,
    routes: {
      addOperator: "operator POST /v1/auth/operators",
    },
  },
  ChangeOperatorRoles: {
    sentence: "Give a person other roles; in production a second admin signs.",
    allowed: ["admin"],
    reads: false,
    tightens: "always",
    auditsRefusals: true,
    routes: {
      changeOperatorRoles: "operator POST /v1/auth/operators/:name/roles",
    },
  },
  DisableOperator: {
    sentence: "Lock a person out at once.",
    allowed: ["admin"],
    reads: false,
    tightens: "always",
    auditsRefusals: true,
    routes: {
      disableOperator: "operator POST /v1/auth/operators/:name/disable",
    },
  },
  ResetOperatorFactor: {
    sentence: "Take a person's second factor away, so that they set up another; in production a second admin signs.",
    allowed: ["admin"],
    reads: false,
    auditsRefusals: true,
    routes: {
      resetOperatorFactor: "operator POST /v1/auth/operators/:name/reset-factor",
    },
  },
  ListIdentityRequests: {
    sentence: "See which changes of people and of machines' tokens wait for a second admin.",
    allowed: ["admin"],
    reads: true,
    routes: {
      listIdentityRequests: "operator GET /v1/auth/requests",
    },
  },
  CosignIdentityRequest: {
    sentence: "Sign another admin's request to change a person or to give a machine a token.",
    allowed: ["admin"],
    reads: false,
    auditsRefusals: true,
    routes: {
      cosignIdentityRequest: "operator POST /v1/auth/requests/:request_id/cosign",
    },
  },
  AcceptUnauditedChange: {
    sentence: "Ask for a change that has no event to be accepted as it stands; a second person signs.",
    allowed: ["admin"],
    reads: false,
    auditsRefusals: true,
    routes: {
      acceptUnauditedChange: "operator POST /v1/operations/unaudited-changes/:change_id/accept",
    },
  },
  CosignUnauditedChange: {
    sentence: "Sign an admin's request to accept a change that has no event.",
    allowed: ["operator", "risk_officer", "admin"],
    reads: false,
    auditsRefusals: true,
    routes: {
      cosignUnauditedChange: "operator POST /v1/operations/unaudited-requests/:request_id/cosign",
    },
  },
  RotateSigningKeys: {
    sentence: "Replace the key that signs tokens.",
    allowed: ["admin"],
    reads: false,
    tightens: "always",
    auditsRefusals: true,
    routes: {
      rotateSigningKeys: "operator POST /v1/auth/signing-keys/rotate",
    },
  },
} as const;
