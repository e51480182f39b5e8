// Filings: from the line that is recorded to what the authority says of the file, as operations tells it; a part of the list in operations.ts.
import {
  filingCorrected,
  filingFeedback,
  filingRecorded,
  filingReviewed,
  filingSealed,
  filingSwitched,
  filingUploaded,
} from "../records/filing.ts";
import { byFund, event } from "./event.ts";

export const filingEvents = {
  filingRecorded: event({
    subject: "svc.v1.operations.filing.recorded",
    schema: filingRecorded,
    key: byFund,
    sentence: "A record for a regulator was written down, or put aside because the regulator would refuse it.",
    publishers: ["operations"],
    audit: {
      action: {
        actions: ["filing.recorded", "filing.quarantined"],
        of: ({ status }) => (status === "WRITTEN" ? "filing.recorded" : "filing.quarantined"),
      },
      about: (of) => of.order_id,
    },
  }),
  filingReviewed: event({
    subject: "svc.v1.operations.filing.reviewed",
    schema: filingReviewed,
    key: byFund,
    sentence: "A person reviewed what was reported of a fund on a day; with what was found.",
    publishers: ["operations"],
    audit: { action: "filing.reviewed", about: byFund, by: (of) => of.reviewed_by },
  }),
  filingSwitched: event({
    subject: "svc.v1.operations.filing.switched",
    schema: filingSwitched,
    key: byFund,
    sentence: "A fund was enabled for a regulator, or it is not any more.",
    publishers: ["operations"],
    audit: {
      action: {
        actions: ["filing.enabled", "filing.disabled"],
        of: ({ enabled }) => (enabled ? "filing.enabled" : "filing.disabled"),
      },
      about: byFund,
    },
  }),
  filingSealed: event({
    subject: "svc.v1.operations.filing.sealed",
    schema: filingSealed,
    key: byFund,
    sentence: "A submission file was sealed.",
    publishers: ["operations"],
    audit: { action: "filing.sealed", about: (of) => of.filing_id },
  }),
  filingUploaded: event({
    subject: "svc.v1.operations.filing.uploaded",
    schema: filingUploaded,
    key: byFund,
    sentence: "A sealed submission file reached the regulator's folder, or went there by hand.",
    publishers: ["operations"],
    audit: { action: "filing.uploaded", about: (of) => of.filing_id },
  }),
  filingFeedback: event({
    subject: "svc.v1.operations.filing.feedback",
    schema: filingFeedback,
    key: (of) => of.name,
    sentence: "A regulator's feedback file was read, or changed nothing.",
    publishers: ["operations"],
    audit: { action: "filing.feedback", about: (of) => of.filing_id ?? of.name },
  }),
  filingCorrected: event({
    subject: "svc.v1.operations.filing.corrected",
    schema: filingCorrected,
    key: byFund,
    sentence: "A record for a regulator was repaired, corrected, withdrawn or judged again.",
    publishers: ["operations"],
    audit: { action: "filing.corrected", about: (of) => of.order_id },
  }),
};
