import { defineTransform } from './define.ts';
import { isoMillis, textOf } from './values.ts';

const TOKEN = /yyyy|MM|dd|HH|mm|ss|SSS/g;

export const formatTime = defineTransform({
  name: 'format_time',
  summary: 'ISO 8601 time with a zone in another form, in UTC. The pattern knows yyyy MM dd HH mm ss SSS; other characters stay.',
  args: [{ name: 'pattern', type: 'string', summary: 'such as `yyyy-MM-dd HH:mm:ss.SSS`' }],
  cost: { value: 600, character: 16 },
  examples: [
    ['2024-05-01T14:00:00.900+02:00', '2024-05-01 12:00:00.900', 'yyyy-MM-dd HH:mm:ss.SSS'],
    ['2024-05-01T14:00:00Z', '01/05/2024', 'dd/MM/yyyy'],
    ['never', undefined, 'yyyy'],
  ],
  apply(value, [pattern]) {
    const ms = isoMillis(value);
    if (ms === undefined) return undefined;
    const [date, time] = new Date(ms).toISOString().split('T') as [string, string];
    const [yyyy, MM, dd] = date.split('-');
    const parts: Record<string, string | undefined> = {
      yyyy,
      MM,
      dd,
      HH: time.slice(0, 2),
      mm: time.slice(3, 5),
      ss: time.slice(6, 8),
      SSS: time.slice(9, 12),
    };
    return textOf(pattern)?.replace(TOKEN, (token) => parts[token] ?? token);
  },
});
