// What changes without an entry in the audit log, whichever unit of work changes it, each with the reason: records by their tables, and writers beside the units.

/** Records that change without an entry, by their table, or by one verb on it. */
export const unauditedRecords: Readonly<Record<string, string>> = {
  handled_event: "Which events were acted on: what was done about them is reported.",
  "update service_instance": "A heartbeat; that it stopped is reported.",
  risk_envelope_head: "Points at the newest version, and is locked while there is none.",
  reference_head: "Points at the newest version, and is locked while there is none.",
  halt_epoch: "Counts halts; each of them is reported.",
  reconcile_look: "What the newest look at a difference saw; what becomes of the difference is reported.",
  reconcile_agreement: "How far an account agrees with us; where it does not, that is reported.",
  risk_nav: "A valuation follows from fills and prices.",
  loss_state: "What follows from valuations; where losses are counted from and what they halt is reported.",
  loss_sample: "A valuation that a window may begin with.",
  treasury_fund: "The newest valuation, and what follows from it.",
  code_question: "A code on its way to whoever judges it; how it was judged is reported.",
  oidc_state: "The memory of logins that are under way.",
  oms_key: "Written while a transaction looks which order took the key; the order is reported.",
  oms_fund: "Counts a fund's trades; each of them is reported.",
  request_key: "What a repeat of a request is answered; what was done under it is reported.",
  report_schedule: "Up to which moment a schedule has its runs; each of them is reported.",
  first_seen: "When something was seen first; that it stands is an alarm.",
  foreign_position:
    "Counts a foreign publisher's events; each is an entry, and a gap among them is reported by its block.",
  foreign_unnumbered: "That a publisher does not number its events is reported once, by an alarm.",
  foreign_bust: "A bust as it was taken; each is an entry.",
  foreign_fill: "A foreign fill as it was booked; each is an entry.",
  filing_settings: "What the configuration says, which has entries of its own.",
  filing_step: "What order management published about an order; each is an entry.",
  oms_report_cursor: "How far a broker's reports were read; what they changed is reported.",
};

/** What writes to the database beside the units of work, by its file, and why that is right. */
export const otherWriters: Readonly<Record<string, string>> = {
  "adapters/postgres/queries/database-care.ts": "VACUUM changes no record, and the rows of a drill are nobody's.",
  "adapters/postgres/queries/past-books.ts":
    "The engine's books as they were once an hour, which follow from the journal.",
  "adapters/postgres/bus/outbox-insert.ts": "The outbox itself.",
  "adapters/postgres/store-transaction.ts": "The mark by which the end of a commit is found out.",
  "adapters/postgres/bus/bus-session.ts": "How far subscriptions have read.",
  "adapters/postgres/bus/trim.ts": "Removes what everybody has read.",
  "adapters/postgres/risk/risk-append.ts":
    "The engine's journal: a decision is itself the event order.decided; fills, transitions and releases were entries before.",
  "adapters/postgres/risk/risk-store.ts": "Who may write the journal.",
  "adapters/postgres/risk/risk-reads.ts": "Snapshots of the engine's books, which follow from the journal.",
  "adapters/postgres/audit/audit-append.ts": "The audit log itself.",
  "adapters/postgres/audit/audit-log.ts": "The audit log itself, its checkpoints and tiles.",
  "adapters/postgres/migrate.ts": "The schema, before anything runs.",
  "adapters/postgres/logins/service-logins.ts":
    "The passwords of the services' own logins, made by the start before anything runs.",
  "adapters/postgres/installation.ts": "Whose the database is, once, before anything runs.",
  "adapters/paper-broker/postgres-books.ts":
    "The books of a broker, which is outside of the platform: what it does to our orders is reported by ours when they hear of it.",
  "adapters/paper-broker/paper-beginnings.ts":
    "How the paper platform began, which follows from the configuration of a start, and that is reported.",
  "adapters/anchors/postgres-anchor.ts": "Copies of checkpoints in a database of other hands.",
  "adapters/postgres/subject-keys.ts":
    "Keys that seal personal fields; that one is destroyed is the entry subject.key_destroyed.",
};
