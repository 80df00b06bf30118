import { wholeNumber } from '../parsers.ts';
import { setting } from '../setting.ts';

export const LIMITS = {
  adminRateLimit: setting({
    variable: 'ADMIN_RATE_LIMIT',
    default: '100',
    parser: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of requests a minute, 1 or more'),
    meaning: 'Management API requests per minute and user or API token, over all processes.',
  }),
  loginRateLimit: setting({
    variable: 'LOGIN_RATE_LIMIT',
    default: '10',
    parser: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of attempts a minute, 1 or more'),
    meaning:
      'Sign-in attempts per minute and e-mail address. Accounts that have not signed in from a network before share ten times as many per client address and thirty times as many per network (/24, /64). Behind a proxy set `TRUST_PROXY`, or all clients share one address.',
  }),
  maxBodyBytes: setting({
    variable: 'MAX_BODY_BYTES',
    default: '1048576',
    parser: wholeNumber(1_024, 104_857_600, 'a number of bytes from 1024 to 104857600'),
    meaning: 'Largest collection payload, unpacked. `/v1/batch` accepts five times that.',
  }),
};
