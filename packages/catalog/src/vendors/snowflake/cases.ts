import { tableCases } from '../shared/tables.ts';
import snowflake from './vendor.ts';

export default tableCases(snowflake);
