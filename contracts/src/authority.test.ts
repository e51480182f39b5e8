// The table of authority against one written by hand: every operation for every role, every subject for every service, and what
// a service token is narrowed to. A row that changes has to be changed here as well, by somebody who meant it.
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { authorityDocument } from "../../scripts/documents/authority.ts";
import {
  type Caller,
  changesState,
  isOperation,
  isRole,
  mayCall,
  mayPublish,
  type Operation,
  operations,
  platformOperations,
  publishers,
  type Role,
  roles,
  serviceOperations,
  whyNot,
} from "./authority.ts";
import { descriptorSetBase64 } from "./generated/descriptors.ts";
import { platformServices, storeProcesses } from "./platform-services.ts";
import { subjects } from "./subjects.ts";

const columns = ["nobody", "no role", "viewer", "operator", "risk_officer", "admin", "service"] as const;

/** x: allowed. The columns are a caller without a token, one whose token names no role of ours, and the five roles. */
const byHand = `
                       nobody norole viewer operator risk_officer admin service
CheckOrder                .      .      .      .          .         .      x
CheckOrders               .      .      .      .          .         .      x
GetEnvelope               .      .      x      x          x         x      x
UpdateEnvelope            .      .      .      .          x         .      .
GetHeadroom               .      .      x      x          x         x      x
ReleaseThrottle           .      .      .      x          .         .      .
ConfirmSent               .      .      .      .          .         .      x
ReleaseApproval           .      .      .      x          .         .      x
ListApprovals             .      .      x      x          x         x      x
GetForeignPosition        .      .      x      x          x         x      x
ListExposures             .      .      x      x          x         x      x
GetLimitUse               .      .      x      x          x         x      x
ListBlocks                .      .      x      x          x         x      x
AcceptBlock               .      .      .      x          .         .      .
EndApproval               .      .      .      x          .         .      .
HandOverSource            .      .      .      .          .         x      .
ListRejections            .      .      x      x          x         x      x
GetDecisions              .      .      x      x          x         x      x
ListEnvelopes             .      .      x      x          x         x      x
DiffEnvelopes             .      .      x      x          x         x      x
ReplayEnvelope            .      .      .      x          x         x      .
RequestHalt               .      .      .      x          x         x      x
ResumeHalt                .      .      .      x          .         .      .
ListActiveHalts           .      .      x      x          x         x      x
GetHaltStatus             .      .      x      x          x         x      x
AnnounceHalt              .      .      .      .          .         .      x
ConfirmHalts              .      .      .      .          .         .      x
ListHaltChanges           .      .      .      .          .         .      x
ReserveWithdrawal         .      .      .      .          .         .      x
PreviewLimits             .      .      .      .          .         .      x
ListLosses                .      .      x      x          x         x      x
ListHaltHistory           .      .      x      x          x         x      x
FlattenPaper              .      .      .      x          .         .      .
GetFlatten                .      .      x      x          x         x      x
RunDrill                  .      .      .      x          x         .      .
ListDrills                .      .      x      x          x         x      x
RestartAll                .      .      .      x          .         .      .
AppendAudit               .      .      .      .          .         .      x
GetAuditTrail             .      .      x      x          x         x      x
VerifyAudit               .      .      x      x          x         x      x
ReadAudit                 .      .      x      x          x         x      x
GetAuditProof             .      .      x      x          x         x      x
GetAuditConsistency       .      .      x      x          x         x      x
TailAudit                 .      .      x      x          x         x      x
TailEvents                .      .      x      x          x         x      x
Publish                   .      .      .      .          .         .      x
PublishOrders             .      .      .      .          .         .      x
PublishValues             .      .      .      .          .         .      x
PublishPrices             .      .      .      .          .         .      x
GetAuditBundleHead        .      .      x      x          x         x      x
GetAuditStatus            .      .      x      x          x         x      x
ListSecrets               .      .      .      x          .         x      .
PutSecret                 .      .      .      .          .         x      .
ListAlarms                .      .      x      x          x         x      x
InspectAudit              .      .      .      x          .         x      .
GetAuditTile              .      .      x      x          x         x      x
BeginAuditVerification    .      .      x      x          x         x      x
BeginAuditInspection      .      .      .      x          .         x      .
WatchAuditRun             .      .      x      x          x         x      x
RotateAuditKey            .      .      .      .          .         x      .
RevokeAuditKey            .      .      .      .          .         x      .
BeginAuditAnew            .      .      .      .          .         x      .
CosignAuditAnew           .      .      .      x          x         x      .
EraseAuditSubject         .      .      .      .          .         x      .
ReadPersonalData          .      .      .      .          x         x      .
ListUnauditedChanges      .      .      x      x          x         x      x
ListParked                .      .      x      x          x         x      x
RetryParked               .      .      .      x          .         x      .
DiscardParked             .      .      .      .          .         x      .
ListWatchdogs             .      .      x      x          x         x      x
ListEpisodes              .      .      x      x          x         x      x
GetWatchdogConfig         .      .      x      x          x         x      x
SetWatchdogConfig         .      .      .      .          x         .      .
PauseWatchdog             .      .      .      x          x         .      .
ResumeWatchdog            .      .      .      x          x         .      .
JudgeWatchdog             .      .      .      x          x         .      .
InjectObservations        .      .      .      x          x         .      .
ReportRegulatoryEvent     .      .      .      .          .         .      x
SubmitOrder               .      .      .      x          .         .      x
CancelOrder               .      .      .      x          .         .      x
AmendOrder                .      .      .      x          .         .      x
CancelAll                 .      .      .      x          .         .      .
GetOrder                  .      .      x      x          x         x      x
ListOrders                .      .      x      x          x         x      x
ListPositions             .      .      x      x          x         x      x
ListFills                 .      .      x      x          x         x      x
AdjustPosition            .      .      .      .          .         .      x
CrossPositions            .      .      .      .          .         .      x
ReceiveSignal             .      .      .      .          .         .      x
RecordRefusedSignal       .      .      .      .          .         .      x
TestSignal                .      .      .      x          x         .      .
ListWebhookSignals        .      .      x      x          x         x      x
GetWebhookSignal          .      .      x      x          x         x      x
GetPaperWeather           .      .      x      x          x         x      x
SetPaperWeather           .      .      .      x          .         .      .
ListFunds                 .      .      x      x          x         x      x
ListNavs                  .      .      x      x          x         x      x
ListLedger                .      .      x      x          x         x      x
RebuildLedger             .      .      .      .          .         x      .
BookCorporateAction       .      .      .      .          x         x      .
BookFlow                  .      .      .      .          x         x      .
ListInstruments           .      .      x      x          x         x      x
ListStrategies            .      .      x      x          x         x      x
SetStrategy               .      .      .      x          x         .      .
GetBacktest               .      .      x      x          x         x      x
ListSignals               .      .      x      x          x         x      x
GetMatrix                 .      .      x      x          x         x      x
ListQuotes                .      .      x      x          x         x      x
ListBars                  .      .      x      x          x         x      x
ReadMarketData            x      x      x      x          x         x      x
ListNews                  .      .      x      x          x         x      x
ListTimeline              .      .      x      x          x         x      .
GetMoment                 .      .      x      x          x         x      .
ListReplayBars            .      .      x      x          x         x      .
VerifyDecisions           .      .      x      x          x         x      .
GetBooks                  .      .      x      x          x         x      x
ListStops                 .      .      x      x          x         x      x
EndStop                   .      .      .      x          .         .      .
ListRestrictions          .      .      x      x          x         x      x
ListFilings               .      .      x      x          x         x      x
ReadFiling                .      .      x      x          x         x      x
ReconcileFilings          .      .      x      x          x         x      x
VerifyFilings             .      .      x      x          x         x      x
RepairFilings             .      .      .      x          x         .      .
ReviewFilings             .      .      .      x          x         .      .
RebuildFilings            .      .      .      .          x         .      .
ListFilingRecords         .      .      x      x          x         x      x
SealFilings               .      .      .      x          x         .      .
UploadFilings             .      .      .      x          x         .      .
TakeFilingFeedback        .      .      .      x          x         .      .
CorrectFilingRecord       .      .      .      .          x         .      .
EndRestriction            .      .      .      .          x         .      .
Reconcile                 .      .      .      x          x         .      .
ListDifferences           .      .      x      x          x         x      x
ProveFlat                 .      .      .      x          x         .      .
GetReferenceData          .      .      x      x          x         x      x
SetReferenceData          .      .      .      .          x         x      .
CosignReferenceData       .      .      .      .          x         x      .
ReadWebPages              x      x      x      x          x         x      x
ReadHealth                x      x      x      x          x         x      x
ReadSchema                x      x      x      x          x         x      x
ReadMetrics               .      .      x      x          x         x      x
ListServices              .      .      x      x          x         x      x
ReadLogs                  .      .      .      x          x         x      .
MakeReport                .      .      .      x          x         x      .
ReadReports               .      .      x      x          x         x      x
InspectInstance           .      .      .      .          .         .      x
LogIn                     x      x      x      x          x         x      x
ReadIdentity              .      x      x      x          x         x      x
LogOut                    .      x      x      x          x         x      x
EnrolSecondFactor         .      .      x      x          x         x      .
StepUp                    .      .      x      x          x         x      .
ListServiceTokens         .      .      .      .          .         x      .
IssueServiceToken         .      .      .      .          .         x      .
RotateServiceToken        .      .      .      .          .         x      .
ReceiveTradingviewAlert   x      x      x      x          x         x      x
ReceiveGithubDelivery     x      x      x      x          x         x      x
InstallGithubbot          .      .      .      .          .         x      .
UninstallGithubbot        .      .      .      .          .         x      .
PauseGithubbot            .      .      .      x          x         x      .
ResumeGithubbot           .      .      .      x          x         x      .
ReadGithubbot             .      .      .      x          x         x      .
ReadWebhookStatus         .      .      x      x          x         x      .
RotateWebhookSecret       .      .      .      .          .         x      .
RevokeServiceToken        .      .      .      .          .         x      .
RevokeSessions            .      .      .      .          .         x      .
ListOperators             .      .      .      .          .         x      .
AddOperator               .      .      .      .          .         x      .
ChangeOperatorRoles       .      .      .      .          .         x      .
DisableOperator           .      .      .      .          .         x      .
ResetOperatorFactor       .      .      .      .          .         x      .
ListIdentityRequests      .      .      .      .          .         x      .
CosignIdentityRequest     .      .      .      .          .         x      .
AcceptUnauditedChange     .      .      .      .          .         x      .
CosignUnauditedChange     .      .      .      x          x         x      .
RotateSigningKeys         .      .      .      .          .         x      .
`;

const rows = byHand
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split(/\s+/))
  .map(([name = "", ...cells]) => ({ name, cells }));

const callers: Readonly<Record<(typeof columns)[number], Caller | undefined>> = {
  nobody: undefined,
  "no role": { roles: [] },
  viewer: { roles: ["viewer"] },
  operator: { roles: ["operator"] },
  risk_officer: { roles: ["risk_officer"] },
  admin: { roles: ["admin"] },
  service: { roles: ["service"] },
};

const everyOperation = Object.keys(operations) as Operation[];

/** By the hand-written table, what needs no role. */
const openToAnyRole = rows
  .filter(({ cells }) => cells[columns.indexOf("no role")] === "x")
  .map(({ name }) => name)
  .sort();

describe("operations", () => {
  test("the hand-written table has every operation once, and every role", () => {
    expect(rows.map(({ name }) => name).sort()).toEqual([...everyOperation].sort());
    expect(
      rows.every(({ cells }) => cells.length === columns.length && cells.every((cell) => /^[.x]$/.test(cell))),
    ).toBe(true);
    expect(columns.slice(2)).toEqual(roles);
  });

  test.each(rows.flatMap(({ name, cells }) => cells.map((cell, index) => [name, columns[index], cell] as const)))(
    "%s by %s: %s",
    (name, column, cell) => {
      expect(mayCall(name as Operation, callers[column ?? "nobody"])).toBe(cell === "x");
    },
  );

  test("roles add up and never take away", () => {
    for (const one of roles)
      for (const other of roles)
        for (const operation of everyOperation) {
          const apart = mayCall(operation, { roles: [one] }) || mayCall(operation, { roles: [other] });
          expect(mayCall(operation, { roles: [one, other] }), `${operation} by ${one} and ${other}`).toBe(apart);
        }
  });

  test("a role or an operation that is not ours is none, also when it is named like something of JavaScript's", () => {
    for (const text of [
      "",
      "root",
      "Operator",
      "operator ",
      "toString",
      "__proto__",
      "constructor",
      "hasOwnProperty",
    ]) {
      expect([isRole(text), isOperation(text)], text).toEqual([false, false]);
    }
    const stranger: Caller = { roles: ["root" as Role, "OPERATOR" as Role] };
    const open = everyOperation.filter((operation) => mayCall(operation, stranger));
    expect(open.toSorted()).toEqual(openToAnyRole);
  });

  test("every operation says what it is, and a refusal says what is needed", () => {
    for (const operation of everyOperation) expect(operations[operation].sentence).toMatch(/^[A-Z].*\.$/);
    expect(whyNot("UpdateEnvelope")).toBe("UpdateEnvelope needs the role risk_officer.");
    expect(whyNot("RequestHalt")).toBe(
      "RequestHalt needs one of the roles operator, risk_officer, admin, service; a service token must name it.",
    );
    expect(whyNot("LogOut")).toContain("a login");
    // What no token may name is not offered to one.
    expect(whyNot("AnnounceHalt")).toBe(
      "AnnounceHalt is between the platform's own processes; no token that is issued may name it.",
    );
  });

  test("every procedure of the protos has a row of its own; those of Instance share InspectInstance", () => {
    const files = fromBinary(FileDescriptorSetSchema, Buffer.from(descriptorSetBase64, "base64")).file;
    const services = files.filter((file) => file.package === "svc.v1").flatMap((file) => file.service);
    expect(services.map(({ name }) => name)).toEqual(expect.arrayContaining(["Instance", "Operations", "RiskEngine"]));
    const procedures = services.filter(({ name }) => name !== "Instance").flatMap(({ method }) => method);
    expect(procedures.length).toBeGreaterThanOrEqual(14);
    expect(procedures.filter(({ name }) => !isOperation(name)).map(({ name }) => name)).toEqual([]);
  });
});

/** x: a process of ours may ask that of others; the last column is a machine with a token that names it. */
const ownByHand = `
                     riskengine operations oms treasury research gateway reports bots machine
InspectInstance      x          x          x   x        x        x       .       .    x
GetEnvelope          .          x          x   .        x        .       x       .    x
ListExposures        .          x          x   x        .        .       .       .    x
ListApprovals        .          x          .   .        .        .       .       .    x
GetLimitUse          .          x          .   .        .        .       x       .    x
SubmitOrder          .          x          .   .        x        .       .       .    x
CancelOrder          .          x          .   .        x        .       .       .    x
GetOrder             .          x          .   .        x        .       .       .    x
AdjustPosition       .          x          .   .        .        .       .       .    x
CrossPositions       .          x          .   .        .        .       .       .    x
AnnounceHalt         .          x          .   .        .        .       .       .    .
ConfirmHalts         .          x          .   .        .        .       .       .    .
CheckOrder           .          .          x   .        .        .       .       .    x
ReserveWithdrawal    .          .          .   x        .        .       .       .    .
PreviewLimits        .          x          .   x        .        .       .       .    .
ListQuotes           .          .          .   .        .        x       .       .    x
ListBars             .          .          .   .        .        x       x       .    x
ListInstruments      .          .          .   .        .        x       x       .    x
ListFunds            .          .          .   .        .        x       .       .    x
ListNavs             .          .          .   .        .        x       x       .    x
ListHaltChanges      .          .          .   .        .        x       .       .    .
GetHaltStatus        .          .          .   .        .        x       .       .    x
ReceiveSignal        .          .          .   .        .        x       .       .    .
RecordRefusedSignal  .          .          .   .        .        x       .       .    .
GetAuditStatus       .          .          .   .        .        .       x       .    x
GetBacktest          .          .          .   .        .        .       x       .    x
GetReferenceData     .          .          .   .        .        .       x       .    x
ListEnvelopes        .          .          .   .        .        .       x       .    x
ListFills            .          .          .   .        .        .       x       .    x
ListLedger           .          .          .   .        .        .       x       .    x
ListOrders           .          .          .   .        .        .       x       .    x
ListRejections       .          .          .   .        .        .       x       .    x
ListSignals          .          .          .   .        .        .       x       .    x
ListStrategies       .          .          .   .        .        .       x       .    x
ReadAudit            .          .          .   .        .        .       x       .    x
ReplayEnvelope       .          .          .   .        .        .       x       .    .
`;

const [ownColumns = [], ...ownRows] = ownByHand
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/\s+/));
const asks = ([, ...cells]: readonly string[], column: string): boolean => cells[ownColumns.indexOf(column)] === "x";
/** They stop every engine or let it go on, or a fund's trading, without a word in the record; nobody else reads what the gateway asks for. */
const ownOperations = ownRows
  .filter((row) => !asks(row, "machine") && row[0] !== "ReplayEnvelope")
  .map(([name = ""]) => name);

describe("a token of our own processes", () => {
  test("has what no machine's token may name", () => {
    expect(ownOperations).toHaveLength(7);
    for (const row of ownRows)
      expect(serviceOperations.includes(row[0] as Operation), row[0]).toBe(asks(row, "machine"));
  });

  test("opens what that process asks of others, and nothing that a machine may not do", () => {
    const byProcess = ownColumns.slice(0, -1).map((process) => [
      process,
      ownRows
        .filter((row) => asks(row, process))
        .map(([name]) => name)
        .sort(),
    ]);
    const stated = Object.entries(platformOperations).map(([process, named]) => [process, [...named].sort()]);
    expect(Object.fromEntries(stated)).toEqual(Object.fromEntries(byProcess));
  });

  test("for reports only reads, and nothing that somebody who may have one made may not read", () => {
    const makers = operations.MakeReport.allowed;
    for (const operation of platformOperations.reports) {
      expect(changesState(operation), operation).toBe(false);
      for (const role of makers) expect(mayCall(operation, { roles: [role] }), `${role} ${operation}`).toBe(true);
    }
  });
});

describe("a service token", () => {
  const narrowed: Caller = { roles: ["service"], operations: ["CheckOrder", "GetEnvelope"] };

  test("opens what it names, and beyond that only what needs no role", () => {
    const open = everyOperation.filter((operation) => mayCall(operation, narrowed));
    expect(open.toSorted()).toEqual(["CheckOrder", "GetEnvelope", ...openToAnyRole].sort());
  });

  test("that names nothing opens nothing that needs a role", () => {
    const open = everyOperation.filter((operation) => mayCall(operation, { roles: ["service"], operations: [] }));
    expect(open.toSorted()).toEqual(openToAnyRole);
  });

  test("cannot name its way to what its role may not do", () => {
    const greedy: Caller = { roles: ["service"], operations: everyOperation };
    const column = columns.indexOf("service");
    for (const { name, cells } of rows) expect(mayCall(name as Operation, greedy), name).toBe(cells[column] === "x");
  });

  test("may be issued for exactly the operations that the role opens", () => {
    const [noRole, service] = [columns.indexOf("no role"), columns.indexOf("service")];
    const named = rows
      .filter(({ name, cells }) => cells[service] === "x" && cells[noRole] === "." && !ownOperations.includes(name))
      .map(({ name }) => name);
    expect([...serviceOperations].sort()).toEqual(named.sort());
  });
});

describe("subjects", () => {
  /** By the words behind the version: who may publish what begins with them, unless a longer beginning is listed. */
  const publishersByHand: Readonly<Record<string, readonly string[]>> = {
    "oms.": ["oms"],
    "treasury.": ["treasury"],
    "treasury.corporate_action.": ["treasury", "oms"],
    "treasury.reference.": ["treasury", "oms", "operations"],
    "treasury.reference.requested": ["treasury", "operations"],
    "research.": ["research"],
    "risk.": ["riskengine"],
    "risk.stop.": ["operations"],
    "risk.reconcile.": ["operations"],
    "risk.loss.baseline": ["riskengine", "operations"],
    "operations.": ["operations"],
    "operations.halt.lifted": ["operations", "riskengine"],
    "operations.foreign.held": ["operations", "riskengine"],
    "operations.resume.": ["operations", "riskengine"],
    "operations.restart.requested": ["gateway"],
    "operations.report.made": ["gateway"],
    "operations.report.run": ["gateway"],
    "operations.report.delivered": ["gateway"],
    "operations.alarm.raised": [...platformServices],
    "operations.bus.parked": [...platformServices],
    "operations.bus.retried": [...platformServices],
    "operations.configuration.changed": [...platformServices],
    "operations.secret.changed": [...platformServices],
    "operations.operator.attempted": [...platformServices],
    "identity.": ["gateway"],
    "identity.stepup.granted": ["gateway"],
    "identity.stepup.redeemed": [...platformServices],
    "identity.stepup.refused": [...platformServices],
    "platform.service.": [...storeProcesses],
    "platform.service.lost": ["operations"],
    "market.marks": ["operations"],
    "bots.": ["bots"],
    "bots.githubbot.": ["gateway"],
  };

  function expectedPublishers(name: string): readonly string[] {
    const rest = name.replace(/^svc\.v1\./, "");
    const [longest] = Object.keys(publishersByHand)
      .filter((beginning) => rest.startsWith(beginning))
      .sort((one, other) => other.length - one.length);
    return publishersByHand[longest ?? ""] ?? [];
  }

  const cells = Object.values(subjects).flatMap(({ name }) =>
    [...storeProcesses, "foreign", ""].map((service) => [name, service] as const),
  );

  test.each(cells)("%s by %s", (name, service) => {
    expect(mayPublish(service, name)).toBe(expectedPublishers(name).includes(service));
  });

  test("every subject has a row with a publisher, and nothing else has one", () => {
    expect(Object.keys(publishers).sort()).toEqual(Object.keys(subjects).sort());
    for (const [key, services] of Object.entries(publishers)) expect(services.length, key).toBeGreaterThan(0);
    for (const name of ["svc.v1.oms.orders.invented", "svc.v1.>", "svc.v1.oms.orders.*", "", "toString"])
      for (const service of storeProcesses) expect(mayPublish(service, name), `${service} on ${name}`).toBe(false);
  });
});

describe("the document", () => {
  const lines = authorityDocument().split("\n");

  test("has the matrix as the table above has it", () => {
    for (const { name, cells } of rows) {
      const line = lines.find((each) => each.startsWith(`| \`${name}\` |`)) ?? "";
      const shown = line.split("|").slice(3, -1);
      const expected = cells.slice(2).map((cell) => (cell === "x" ? " yes " : "  "));
      expect(shown, name).toEqual(expected);
    }
  });

  test("lists what is open to anyone with a reason, and every subject with its publishers", () => {
    for (const name of ["ReadWebPages", "ReadMarketData", "ReadHealth", "ReadSchema", "LogIn"])
      expect(lines.find((line) => line.startsWith(`- \`${name}\``))).toMatch(/: .+\.$/);
    const published = lines.slice(lines.indexOf("## Subjects"));
    for (const { name } of Object.values(subjects)) {
      const line = published.find((each) => each.startsWith(`| \`${name}\` |`)) ?? "";
      const services = expectedNames(name);
      expect(line.endsWith(`| ${services} |`), `${line} names ${services}`).toBe(true);
    }
  });

  function expectedNames(name: string): string {
    const services = storeProcesses.filter((service) => mayPublish(service, name));
    return services.length === platformServices.length ? "every service" : services.join(", ");
  }
});
