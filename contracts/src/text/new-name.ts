// Names that are made from here on: of funds, strategies, schedules of reports and people. They stand in sentences, addresses and commands, where a full stop at their end
// would be the sentence's and two dots the folder above. Names that are there already, and ids of orders, fills and events, are not asked.
const separatorAtAnEnd = /^[._:@/-]|[._:@/-]$/;

/** Why no new name is like this; undefined for one that may be made. */
export function newNameComplaint(name: string): string | undefined {
  if (name.includes("..")) return `The name ${JSON.stringify(name)} has two dots in a row, which no new name has.`;
  if (!separatorAtAnEnd.test(name)) return undefined;
  return `The name ${JSON.stringify(name)} begins or ends with one of . _ : @ / -, which no new name does.`;
}
