// What a bearer token may look like (RFC 6750), whichever surface it is shown on.

/** Tokens of foreign issuers carry whole lists of groups; beyond this nobody's do. */
export const tokenLengthMax = 8_192;

export const tokenForm = /^[A-Za-z0-9._~+/-]+=*$/;
