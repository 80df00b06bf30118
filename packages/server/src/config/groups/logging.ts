import { oneOf } from '../parsers.ts';
import { setting } from '../setting.ts';

export const LOGGING = {
  logLevel: setting({
    variable: 'LOG_LEVEL',
    default: 'info',
    parser: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    meaning: 'Lowest level that is logged.',
  }),
};
