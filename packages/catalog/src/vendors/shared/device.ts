/** The device and the place of an event, under a vendor's own names. */
import type { JsonObject } from '@firsthand/core/json.ts';
import type { ConfigField } from '@firsthand/core/vendor/definition.ts';
import { flag } from './fields.ts';
import { from, set, type Transform } from './mapping.ts';
import * as source from './sources.ts';

const DEVICE_IDS = {
  idfa: [source.ADVERTISING_ID, source.IS_APPLE],
  idfv: ['context.device.id', source.IS_APPLE],
  aaid: [source.ADVERTISING_ID, source.IS_ANDROID],
  android_id: ['context.device.id', source.IS_ANDROID],
} as const;

/** The id that the device gives to advertising, if the user allows one. */
export const advertisingId = (target: string, steps: Transform[] = [], ...when: JsonObject[]): JsonObject =>
  from(source.ADVERTISING_ID, target, steps, {
    when: when.length === 0 ? source.HAS_ADVERTISING_ID : { all: [source.HAS_ADVERTISING_ID, ...when] },
  });

/** Targets of the ids that Apple and Android give to a device. An id without a target is not sent. `apple`: steps for Apple's ids. */
export function deviceIds(targets: Partial<Record<keyof typeof DEVICE_IDS, string>>, apple: Transform[] = []): JsonObject[] {
  return Object.entries(targets).map(([key, target]) => {
    const [sources, when] = DEVICE_IDS[key as keyof typeof DEVICE_IDS];
    const steps = when === source.IS_APPLE ? apple : [];
    return sources === source.ADVERTISING_ID ? advertisingId(target, steps, when) : from(sources, target, steps, { when });
  });
}

const APP_ON = { app: source.IS_APP, android: { all: [source.IS_APP, source.IS_ANDROID] }, ios: { all: [source.IS_APP, source.IS_APPLE] } };

/** Where an event happened: on a page, in an app (of a platform), or elsewhere. */
export function actionSource(
  target: string,
  names: { other: string; web: string } & Partial<Record<keyof typeof APP_ON, string>>,
): JsonObject[] {
  const { other, web, ...apps } = names;
  return [
    set(target, other),
    set(target, web, { when: source.HAS_PAGE }),
    ...Object.entries(apps).map(([key, name]) => set(target, name, { when: APP_ON[key as keyof typeof APP_ON] })),
  ];
}

/** The advertising consent in the vendor's words. Unknown consent is not sent. */
export function adConsent(targets: string[], [granted, denied]: readonly [granted: string, denied: string]): JsonObject[] {
  return targets.map((target) => from(source.AD_CONSENT, target, ['to_string'], { value_map: { true: granted, false: denied } }));
}

/** Google's rules for people in the EEA, which attribution vendors pass on. Unknown consent is none. */
const IN_EEA = { when: { field: 'parameters.eea', op: 'eq', value: true } };
export function eeaConsent(targets: { applies: string; user_data: string; personalization: string }): JsonObject[] {
  const consent = (target: string) => from(source.AD_CONSENT, target, ['to_boolean'], { default: false, ...IN_EEA });
  return [set(targets.applies, true, IN_EEA), consent(targets.user_data), consent(targets.personalization)];
}
export const EEA_FIELD: ConfigField = flag(
  'eea',
  'Users in the EEA',
  'Sends the advertising consent of every user. For apps whose users are in the European Economic Area.',
);
