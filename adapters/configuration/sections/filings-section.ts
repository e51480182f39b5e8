// What the configuration says of regulatory reporting: of each fund under `compliance`, and of the platform under `filings`. Everything is off by default.
import { z } from "zod";
import { catChoices } from "../../../core/filings/cat/choices.ts";
import { key } from "../key-facts.ts";
import { path, pathExpected, section, text, whole } from "../key-forms.ts";
import { isHost } from "../value-forms.ts";

const destinationTypes = ["D", "E", "F", "N", "O"] as const;

/** Identity that a regulator would refuse is said when a record is made or a file sealed: nobody's platform fails to start for it. */
const identity = (lengthMax: number, sentence: string, whenAbsent = "none") =>
  key(text(lengthMax).optional(), { sentence, expected: `text of 1 to ${lengthMax} characters`, whenAbsent });

const word = (name: string, standard: string, sentence: string) =>
  key(z.enum(catChoices[name] ?? []).default(standard), { sentence });

const destination = section({
  type: key(z.enum(destinationTypes), {
    sentence: "E for an exchange, F or O for a firm, N for a broker abroad, D for a display facility.",
  }),
  id: identity(16, "The exchange's id at CAT, such as NSDQ, or a firm's `CRD:IMID`."),
  session: identity(40, "The session by which orders go to an exchange; CAT refuses a route to one without it."),
  exch_origin_code: identity(4, "Of options at an exchange: the origin code that orders carry there."),
});

const mifidVenue = section({
  mic: key(text(8), { sentence: "The MIC of the venue where its trades happen; XOFF off venue." }),
  counterparty_lei: identity(
    40,
    "Who stands on the other side of its trades: a broker or a central counterparty.",
    "the venue",
  ),
});

const lei = (whose: string) => identity(40, `The LEI (ISO 17442) of ${whose}.`);

export const compliance = section({
  cat_enabled: key(z.boolean().default(false), { sentence: "Whether this fund's events are reported to CAT." }),
  cat_subscriber_id: key(text(64).optional(), {
    sentence: "The CAT submitter id, which is a number; needed when CAT reporting is on.",
    expected: "text of 1 to 64 characters",
    whenAbsent: "none",
  }),
  cat_reporter_imid: identity(16, "The CAT reporter IMID: 1 to 7 capitals or digits."),
  cat_crd: identity(16, "The reporter's CRD number, which stands before its IMID in records of routes."),
  cat_fdid: identity(128, "The firm designated id of the fund's account, at most 40 characters.", "the fund's id"),
  cat_account_holder_type: word(
    "accountHolderType",
    "A",
    "Whose account it is, in CAT's letters; A is an institution's.",
  ),
  cat_dept_type: word("deptType", "A", "Which department takes the fund's orders, in CAT's words; A is agency."),
  cat_destinations: z.record(text(200), destination).default({}),
  mifid_enabled: key(z.boolean().default(false), {
    sentence: "Whether this fund's trades are reported under MiFID II.",
  }),
  mifid_lei: lei("the firm that executes"),
  mifid_submitter_lei: lei("who hands reports in: the firm, or whom it asks to"),
  mifid_fund_lei: lei("the fund"),
  mifid_country: identity(8, "The country of the firm's branch, two letters."),
  mifid_venues: z.record(text(200), mifidVenue).default({}),
  oats_enabled: key(z.boolean().default(false), {
    sentence: "Whether archives in the form of the retired OATS are kept of this fund's orders.",
  }),
});

const remoteFolder = (sentence: string) =>
  key(text(400).optional(), { sentence, expected: "a folder on the server", whenAbsent: "none" });

const wayTo = (regulator: string) => ({
  environment: key(z.enum(["test", "production"]).default("test"), {
    sentence: `Which of ${regulator}'s two files go to: records of paper funds never reach production, nor those of live funds test.`,
  }),
  transport: key(z.enum(["none", "folder", "sftp"]).default("none"), {
    sentence: "How files get there: by people alone, into a folder that something else carries on, or by SFTP.",
  }),
  folder: key(path().optional(), {
    sentence: "Where `transport` is folder: it has `transit`, `complete` and `feedback`.",
    expected: pathExpected("a folder"),
    whenAbsent: "none",
  }),
  sftp: section({
    host: key(z.string().refine(isHost).optional(), {
      sentence: "The SFTP server.",
      expected: "a host name or address",
      whenAbsent: "none",
    }),
    port: key(whole(1, 65_535).default(22), { sentence: "Its port." }),
    user: key(text(200).optional(), {
      sentence: "Who we are there; the key is a secret.",
      expected: "text of 1 to 200 characters",
      whenAbsent: "none",
    }),
    host_key_sha256: key(
      z
        .string()
        .regex(/^SHA256:[A-Za-z0-9+/]{43}$/)
        .optional(),
      {
        sentence: "The server's own key, by its hash: no other server is spoken to.",
        expected: "SHA256: and 43 characters, as `ssh-keygen -l` prints it",
        whenAbsent: "none",
      },
    ),
    transit_dir: remoteFolder("Into which a file is brought."),
    complete_dir: remoteFolder("Into which it is renamed when it is whole."),
    feedback_dir: remoteFolder("In which feedback lies."),
  }).prefault({}),
  upload_at: key(
    z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .default("05:00"),
    { sentence: "When past days are sealed and sent, on the regulator's clock.", expected: "HH:MM" },
  ),
});

export const filings = section({
  cat: section({
    ...wayTo("CAT"),
    meta_file: key(z.boolean().default(true), {
      sentence: "Whether each file has a second one that says what is in it.",
    }),
  }).prefault({}),
  dir: key(path().optional(), {
    sentence: "The folder of submission files; it is made with the first line that is written.",
    environment: "PORTCULLIS_FILINGS_DIR",
    expected: pathExpected("a folder"),
    whenAbsent: "`filings` in the data folder",
  }),
});
