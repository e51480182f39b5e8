// Breaks between two AsyncAPI documents. A subject is written and read by programs that are not ours, so its payload is held to both ways; a frame of a
// stream goes one way, which the operation on its channel says.
import { schemaBreaks } from "./schemas.js";

export function asyncApiBreaks(before, after) {
  return Object.entries(before.channels ?? {}).flatMap(([name, channel]) => {
    const found = after.channels?.[name];
    if (found === undefined) return [`${name}: the channel is gone`];
    const moved = channel.address === found.address ? [] : [`${name}: its address changed to ${found.address}`];
    return [...moved, ...messageBreaks(name, channel, found, { before, after })];
  });
}

function messageBreaks(name, channel, found, documents) {
  return Object.keys(channel.messages ?? {}).flatMap((key) => {
    if (found.messages?.[key] === undefined) return [`${name}: the message ${key} is gone`];
    const [was, is] = [
      messageOf(documents.before, channel.messages[key]),
      messageOf(documents.after, found.messages[key]),
    ];
    const direction = directionOf(documents.before, name, key);
    return schemaBreaks(`${name} ${key}`, was.payload, is.payload, { ...documents, direction });
  });
}

function messageOf(document, message) {
  if (message.$ref === undefined) return message;
  return message.$ref
    .replace(/^#\//, "")
    .split("/")
    .reduce((value, step) => value?.[step.replaceAll("~1", "/").replaceAll("~0", "~")], document);
}

/**
 * From where we stand: what we send is an answer, what we receive is a request. Subjects of the bus are both: foreign programs publish them too, and
 * what was stored before an update is read after it.
 */
function directionOf(document, channel, message) {
  if (!document.channels[channel].address.startsWith("/")) return "both";
  const actions = Object.values(document.operations ?? {})
    .filter(
      (operation) => operation.channel?.$ref === `#/channels/${channel.replaceAll("~", "~0").replaceAll("/", "~1")}`,
    )
    .filter(({ messages }) => messages === undefined || messages.some(({ $ref }) => $ref.endsWith(`/${message}`)))
    .map(({ action }) => action);
  const isSent = actions.includes("send");
  const isReceived = actions.includes("receive");
  if (isSent === isReceived) return "both";
  return isSent ? "answer" : "request";
}
