// The registry of what is audited: complete, well formed, and a foreign payload cannot say who did it.
import { describe, expect, it } from "vitest";
import { auditActions, auditRuleOf } from "./audit-actions.ts";
import { subjects } from "./subjects.ts";

describe("auditActions", () => {
  it("has a rule or a reason for every subject", () => {
    expect(Object.keys(auditActions).sort()).toEqual(Object.keys(subjects).sort());
    for (const [key, subject] of Object.entries(subjects)) {
      const rule = auditRuleOf({ subject: subject.name, key: "k", source: "oms", payload: {} });
      expect(rule, key).toBe(auditActions[key as keyof typeof subjects]);
      if ("notAudited" in rule) expect(rule.notAudited, key).toMatch(/^[A-Z].*\.$/);
      else for (const action of rule.actions) expect(action, key).toMatch(/^[a-z_]+\.[a-z_]+$/);
    }
  });

  it("gives each audited subject an action of its own, none of them the log's", () => {
    const actions = Object.values(auditActions).flatMap((rule) => ("actions" in rule ? rule.actions : []));
    expect(new Set(actions).size).toBe(actions.length);
    for (const action of actions) expect(action).not.toMatch(/^(chain|key)\.|^subject\.key_destroyed$/);
    expect(actions.length).toBeGreaterThan(40);
  });

  it("leaves out only what is inside another entry or follows from others, what may be lost, and the log's own", () => {
    const out = Object.entries(auditActions).flatMap(([key, rule]) => ("notAudited" in rule ? [key] : []));
    expect(out.sort()).toEqual([
      "auditAppended",
      "auditProgress",
      "botAdvisoryPublished",
      "botReleasePublished",
      "gateFailed",
      "gatePassed",
      "marketMarks",
      "navUpdated",
    ]);
  });

  it("believes a payload about its actor only from our own services", () => {
    const payload = { target: "", operator: "operator:ada" };
    const { name } = subjects.operatorAttempted;
    const actorFrom = (source: string): unknown => {
      const event = { subject: name, key: "k", source, payload };
      const rule = auditRuleOf(event);
      return "actions" in rule ? [rule.actorOf(event), rule.subjectIdOf(payload)] : undefined;
    };
    expect(actorFrom("gateway")).toEqual(["operator:ada", "firm"]);
    expect(actorFrom("foreign")).toEqual(["foreign", "firm"]);
  });

  it("22.2: calls an approval that somebody released by that word, also in what earlier versions wrote", () => {
    const action = (payload: object) => {
      const rule = auditRuleOf({ subject: subjects.approvalExpired.name, key: "k", source: "riskengine", payload });
      return "actions" in rule && rule.actionOf(payload);
    };
    expect(action({ order_id: "o-1", state: "EXPIRED" })).toBe("approval.expired");
    expect(action({ order_id: "o-1" })).toBe("approval.expired");
    expect(action({ order_id: "o-1", state: "RELEASED", released_by: "operator:ada" })).toBe("approval.released");
    expect(action({ order_id: "o-1", released_by: "operator:ada" })).toBe("approval.released");
  });

  it("records a subject that we do not know as what it is", () => {
    const event = { subject: "svc.v1.other.thing", key: "thing-1", source: "foreign", payload: {} };
    const rule = auditRuleOf(event);
    expect("actions" in rule && [rule.actionOf({}), rule.subjectIdOf({}), rule.actorOf(event)]).toEqual([
      "event.observed",
      "thing-1",
      "foreign",
    ]);
    const nameless = auditRuleOf({ ...event, key: "" });
    expect("actions" in nameless && nameless.subjectIdOf({})).toBe(event.subject);
  });

  it("asks nothing of a payload that does not match its schema, and knows whether that may be about a person", () => {
    const malformed = (name: string, key: string) => {
      const event = {
        subject: name,
        key,
        source: "foreign",
        payload: undefined,
        unread: { kind: "malformed" as const },
      };
      const rule = auditRuleOf(event);
      return "actions" in rule
        ? [rule.actionOf(undefined), rule.subjectIdOf(undefined), rule.actorOf(event), rule.personal]
        : rule.notAudited;
    };
    expect(malformed(subjects.ordersUpdated.name, "o-1")).toEqual(["event.malformed", "o-1", "foreign", []]);
    const { name } = subjects.sessionOpened;
    expect(malformed(name, "")).toEqual(["event.malformed", name, "foreign", ["remote_address"]]);
    expect(malformed(subjects.marketMarks.name, "AAPL")).toMatch(/price/);
  });
});
