import type { Refusal } from './answers.ts';

export const OVERLOADED = { code: 'overloaded', retryAfterS: 1 } as const satisfies Refusal;
