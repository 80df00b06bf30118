import { defineTransform } from './define.ts';
import { isHashed, textOf } from './values.ts';

const US_STATES = new Map(
  (
    'alabama al,alaska ak,arizona az,arkansas ar,california ca,colorado co,connecticut ct,delaware de,districtofcolumbia dc,florida fl,' +
    'georgia ga,hawaii hi,idaho id,illinois il,indiana in,iowa ia,kansas ks,kentucky ky,louisiana la,maine me,maryland md,' +
    'massachusetts ma,michigan mi,minnesota mn,mississippi ms,missouri mo,montana mt,nebraska ne,nevada nv,newhampshire nh,' +
    'newjersey nj,newmexico nm,newyork ny,northcarolina nc,northdakota nd,ohio oh,oklahoma ok,oregon or,pennsylvania pa,' +
    'rhodeisland ri,southcarolina sc,southdakota sd,tennessee tn,texas tx,utah ut,vermont vt,virginia va,washington wa,' +
    'westvirginia wv,wisconsin wi,wyoming wy'
  )
    .split(',')
    .map((pair) => pair.split(' ') as [string, string]),
);

export const normalizeState = defineTransform({
  name: 'normalize_state',
  summary: 'A state or region in lower case without spaces and punctuation; a US state by its two letters.',
  cost: { value: 600, character: 16 },
  examples: [
    ['California', 'ca'],
    ['New York', 'ny'],
    ['NY', 'ny'],
    ['Baden-Württemberg', 'badenwürttemberg'],
    ['?', undefined],
  ],
  apply(value) {
    if (isHashed(value)) return value;
    const text = textOf(value)
      ?.toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}]/gu, '');
    return text ? (US_STATES.get(text) ?? text) : undefined;
  },
});
