// Who is there, and which processes run. One entry an event: subject, payload, order, publishers and what the audit log says of it.

import {
  factorChanged,
  operatorChanged,
  serviceEvent,
  serviceTokenChanged,
  sessionEvent,
  signingKeyChanged,
  stepUpEvent,
} from "../records/platform.ts";
import { aboutService, actor, byService, event, everyService, operator, principal } from "./event.ts";

export const identityEvents = {
  sessionOpened: event({
    subject: "svc.v1.identity.session.opened",
    schema: sessionEvent,
    key: (session) => session.principal,
    sentence: "Somebody proved who they are.",
    publishers: ["gateway"],
    audit: { action: "session.opened", about: principal, by: principal },
  }),
  sessionClosed: event({
    subject: "svc.v1.identity.session.closed",
    schema: sessionEvent,
    key: (session) => session.principal,
    sentence: "Somebody logged out or their session ended.",
    publishers: ["gateway"],
    audit: { action: "session.closed", about: principal, by: (of) => of.actor ?? principal(of) },
  }),
  sessionRefused: event({
    subject: "svc.v1.identity.session.refused",
    schema: sessionEvent,
    key: (session) => session.principal,
    sentence: "Somebody failed to prove who they are.",
    publishers: ["gateway"],
    audit: { action: "session.refused", about: principal },
  }),
  operatorChanged: event({
    subject: "svc.v1.identity.operator.changed",
    schema: operatorChanged,
    key: (changed) => changed.operator,
    sentence: "A person who may log in was made, changed or removed.",
    publishers: ["gateway"],
    audit: { action: "operator.changed", about: operator, by: actor },
  }),
  factorChanged: event({
    subject: "svc.v1.identity.factor.changed",
    schema: factorChanged,
    key: (changed) => changed.operator,
    sentence: "A person's second factor was set up, replaced or used up.",
    publishers: ["gateway"],
    audit: { action: "factor.changed", about: operator, by: operator },
  }),
  stepUpGranted: event({
    subject: "svc.v1.identity.stepup.granted",
    schema: stepUpEvent,
    key: (tried) => tried.operator,
    sentence: "A second factor was proved for one named action.",
    // The workflow's two ends are shown codes as well.
    publishers: ["riskengine", "operations", "gateway"],
    audit: { action: "stepup.granted", about: operator, by: operator },
  }),
  stepUpRefused: event({
    subject: "svc.v1.identity.stepup.refused",
    schema: stepUpEvent,
    key: (tried) => tried.operator,
    sentence: "A second factor was asked for and not proved.",
    // Whoever redeems a proof may find that it does not fit.
    publishers: everyService,
    audit: { action: "stepup.refused", about: operator, by: operator },
  }),
  stepUpRedeemed: event({
    subject: "svc.v1.identity.stepup.redeemed",
    schema: stepUpEvent,
    key: (tried) => tried.operator,
    sentence: "The proof of a second factor was used for its action.",
    publishers: everyService,
    audit: { action: "stepup.redeemed", about: operator, by: operator },
  }),
  serviceTokenChanged: event({
    subject: "svc.v1.identity.token.changed",
    schema: serviceTokenChanged,
    key: (changed) => changed.token_id,
    sentence: "A machine got, changed or lost its token.",
    publishers: ["gateway"],
    audit: { action: "token.changed", about: (of) => of.token_id, by: actor },
  }),
  signingKeyChanged: event({
    subject: "svc.v1.identity.key.changed",
    schema: signingKeyChanged,
    key: () => "keys",
    sentence: "The key that signs tokens was made, replaced or withdrawn.",
    publishers: ["gateway"],
    audit: { action: "signing_key.changed", about: (of) => of.key_id, by: actor },
  }),
  serviceStarted: event({
    subject: "svc.v1.platform.service.started",
    schema: serviceEvent,
    key: byService,
    sentence: "A service's process is ready.",
    publishers: everyService,
    audit: { action: "service.started", about: aboutService },
  }),
  serviceStopped: event({
    subject: "svc.v1.platform.service.stopped",
    schema: serviceEvent,
    key: byService,
    sentence: "A service's process ended as it was asked to.",
    publishers: everyService,
    audit: { action: "service.stopped", about: aboutService },
  }),
  serviceLost: event({
    subject: "svc.v1.platform.service.lost",
    schema: serviceEvent,
    key: byService,
    sentence: "A service's process ended or fell silent without being asked to.",
    // Declared by whoever noticed that its lease ran out.
    publishers: ["operations"],
    audit: { action: "service.lost", about: aboutService },
  }),
};
