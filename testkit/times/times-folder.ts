// Where the lines of `npm test -- --times` are gathered while a run goes on; scripts/test.js names it.
export const timesVariable = "PORTCULLIS_TEST_TIMES";
