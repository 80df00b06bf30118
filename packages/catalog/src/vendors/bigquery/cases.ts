import { tableCases } from '../shared/tables.ts';
import bigquery from './vendor.ts';

export default tableCases(bigquery);
