import { tableCases } from '../shared/tables.ts';
import redshift from './vendor.ts';

export default tableCases(redshift);
