/** The platform's version, as requests to vendors carry it. A test compares it with package.json. */
export const VERSION = '0.2.0';
export const USER_AGENT = `Firsthand/${VERSION}`;
