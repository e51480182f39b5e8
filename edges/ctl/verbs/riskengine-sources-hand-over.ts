// `ctl riskengine sources hand-over`: the orders of a source that is gone, or has another name by now, are another one's from then on.
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineSourcesHandOver: Verb = {
  name: "riskengine sources hand-over",
  heading: "Decisions",
  sentence: "Hand the orders of one source to another one.",
  about:
    "Only the source that asked for an order confirms, amends and releases it and reports what becomes of it. After this NEW does so for everything that OLD asked for until now, or for one order; what OLD asks for afterwards is its own again. A source is the name of a token, or a login of NATS; OLD need not exist any more. It is an admin's, asks for the second factor (exit 5 without), and is refused without a reason (exit 6).",
  arguments: [
    { name: "old", sentence: "The source that has the orders." },
    { name: "new", sentence: "The source that has them from then on." },
  ],
  options: [{ name: "order", value: "ID", sentence: "Only this order." }, reasonOption, ...factorOptions],
  examples: [
    {
      command: "ctl riskengine sources hand-over desk desk-2 --reason new-token --totp 123456",
      sentence: "The order management has a token with another name.",
    },
    {
      command: "ctl riskengine sources hand-over desk desk-2 --order o-4 --reason moved --totp 123456",
      sentence: "One order.",
    },
  ],
  operation: "HandOverSource",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const [from, to, orderId] = [context.argument("old"), context.argument("new"), context.option("order")];
  const asked = { from, to, ...(orderId !== undefined && { orderId }), ...reasonOf(context) };
  const parameters = { from, to, ...(orderId !== undefined && { order_id: orderId }), reason: asked.reason ?? "" };
  const proof = await permittedStepUpProof(context, client, { action: "HandOverSource", parameters }, () =>
    client.handOverSource(asked),
  );
  const given = await client.handOverSource({ ...asked, stepUpProof: proof });
  const what = orderId === undefined ? `What ${clean(from)} asked for until now` : `Order ${clean(orderId)}`;
  const open = `${given.open_orders} open ${given.open_orders === 1 ? "order is" : "orders are"} ${clean(to)}'s now.`;
  return { data: given, text: `${what} belongs to ${clean(to)}. ${open}` };
}
