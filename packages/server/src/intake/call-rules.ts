import type { CallRules } from '@firsthand/core/event/validate.ts';

const ANY_TYPE: ReadonlySet<string> = new Set(['track', 'page', 'identify', 'group', 'screen', 'alias']);

/** An event that names its own type: server endpoints, batches, mapped webhooks. */
export const ANY_CALL: CallRules = { types: ANY_TYPE, fallback: undefined, pageNameRequired: false, compatible: true };
