import { isObject, own } from '../json.ts';
import { defineTransform } from './define.ts';
import { textOf } from './values.ts';

export const gaStreamSession = defineTransform({
  name: 'ga_stream_session',
  summary:
    'The session id of one Google Analytics 4 stream, out of `context.vendor_ids.ga_sessions`, which holds those of every `_ga_<stream>` cookie.',
  args: [{ name: 'measurement_id', type: 'string', summary: 'normally `{"source": "parameters.measurement_id"}`' }],
  cost: { value: 600, character: 16 },
  examples: [
    [{ ABC1234567: '1700000000', XYZ: '1600000000' }, '1700000000', 'G-ABC1234567'],
    [{ XYZ: '1600000000' }, undefined, 'G-ABC1234567'],
    ['x', undefined, 'G-ABC1234567'],
  ],
  apply(value, [measurementId]) {
    const stream = textOf(measurementId)?.replace(/^G-/, '');
    return isObject(value) && stream !== undefined ? own(value, stream) : undefined;
  },
});
