// SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import { App } from './App';
import { data } from './data';
import './style.css';
import { withoutUnit } from './units';

if (data.kind === 'schedule') withoutUnit(data.unit);
render(<App data={data} />, document.getElementById('page')!);
