/** Facts about an app and its device, as Meta and Snap take them. */
import type { JsonObject } from '@firsthand/core/json.ts';
import { from, set, type Transform, use } from './mapping.ts';
import * as source from './sources.ts';

/** Sixteen values in a fixed order; an empty text stands for each that is missing. */
const EXTENDED_INFO = [
  [],
  ['context.app.namespace'],
  // The build number (Android's version code), then the version that people see.
  ['context.app.build', 'context.app.version'],
  ['context.app.version'],
  ['context.os.version'],
  ['context.device.model'],
  ['context.locale'],
  [],
  ['context.network.carrier'],
  ['context.screen.width'],
  ['context.screen.height'],
  ['context.screen.density'],
  [],
  [],
  [],
  ['context.timezone'],
];
/** Both vendors write a locale as en_US: developers.snap.com, Conversions-API/UsingTheAPI; developers.facebook.com, server-event, extinfo. */
const TEXT: Record<number, Transform[]> = { 6: [use('replace', '-', '_')] };
export const TRACKING_ENABLED = ['context.device.ad_tracking_enabled', 'context.device.adTrackingEnabled'];

/** `extinfo` under `object`, for events of an app only. */
export function extendedInfo(object: string, isApp: JsonObject): JsonObject[] {
  const at = (index: number) => `${object}.extinfo[${index}]`;
  const values = EXTENDED_INFO.map((sources, index) =>
    sources.length === 0
      ? set(at(index), '', { when: isApp })
      : from(sources, at(index), TEXT[index] ?? ['to_string'], { default: '', when: isApp }),
  );
  const platform = (os: JsonObject) => ({ when: { all: [isApp, os] } });
  return [...values, set(at(0), 'a2', platform(source.IS_ANDROID)), set(at(0), 'i2', platform(source.IS_APPLE))];
}

/**
 * 1 if the device allows tracking, otherwise 0. Android withholds its advertising id where the user opted out, so an id says that the
 * user did not, as in Meta's own SDK: facebook/facebook-android-sdk, AttributionIdentifiers.
 */
export function trackingEnabled(target: string, isApp: JsonObject): JsonObject[] {
  return [
    set(target, 0, { when: isApp }),
    set(target, 1, { when: { all: [isApp, source.IS_ANDROID, source.HAS_ADVERTISING_ID] } }),
    from(TRACKING_ENABLED, target, ['to_boolean'], { value_map: { true: 1, false: 0 }, when: isApp }),
  ];
}
