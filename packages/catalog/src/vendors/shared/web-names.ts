/**
 * `$os`, `$browser` and its version as the browser libraries of PostHog and Mixpanel write them, so that events of a server and of a
 * page share their values: PostHog/posthog-js, packages/core/src/utils/user-agent-utils.ts; mixpanel/mixpanel-js, src/utils.js.
 */
import type { JsonObject } from '@firsthand/core/json.ts';
import { from, use } from './mapping.ts';
import * as source from './sources.ts';

const SYSTEMS = { macOS: 'Mac OS X', 'Mac OS': 'Mac OS X', ChromeOS: 'Chrome OS', 'PlayStation 4': 'PlayStation' };
const BROWSERS = {
  'Samsung Internet for Android': 'Samsung Internet',
  'Android Browser': 'Android Mobile',
  'Yandex Browser': 'Yandex',
  'NAVER Whale Browser': 'Whale',
};
const ON_IOS = { ...BROWSERS, Safari: 'Mobile Safari', Chrome: 'Chrome iOS', Firefox: 'Firefox iOS' };

export const webNames = (at: string): JsonObject[] => [
  from('context.os.name', `${at}.$os`, [], { value_map: SYSTEMS }),
  from('context.browser.name', `${at}.$browser`, [], { value_map: BROWSERS }),
  from('context.browser.name', `${at}.$browser`, [], { value_map: ON_IOS, when: source.IS_APPLE }),
  // Major and minor version, as a number.
  from('context.browser.version', `${at}.$browser_version`, [use('replace', '^(\\d+(\\.\\d+)?).*$', '$1'), 'to_number']),
];
