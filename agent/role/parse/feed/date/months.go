package date

// months are the names of the months by language, January to December, separated by commas. Each group
// contains all forms found in dates, such as nominative, genitive and abbreviation. Case, points and accents
// are ignored, see [spellings].
//
// Sources: the locales of the GNU C Library and dates of real feeds.
var months = []struct{ lang, names string }{
	{"en", "january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, september sep sept, october oct, november nov, december dec"},
	{"de", "januar jänner jan jän, februar feb febr feber, märz mär mrz maerz, april apr, mai, juni jun, juli jul, august aug, september sep sept, oktober okt, november nov, dezember dez"},
	{"nl", "januari jan, februari feb febr, maart mrt maa, april apr, mei, juni jun, juli jul, augustus aug, september sep sept, oktober okt, november nov, december dec"},
	{"da", "januar jan, februar feb febr, marts mar, april apr, maj, juni jun, juli jul, august aug, september sep sept, oktober okt, november nov, december dec"},
	{"sv", "januari jan, februari feb febr, mars mar, april apr, maj, juni jun, juli jul, augusti aug, september sep sept, oktober okt, november nov, december dec"},
	{"nb", "januar jan, februar feb, mars mar, april apr, mai, juni jun, juli jul, august aug, september sep, oktober okt, november nov, desember des"},
	{"is", "janúar jan, febrúar feb, mars mar, apríl apr, maí, júní jún, júlí júl, ágúst ágú, september sep, október okt, nóvember nóv, desember des"},
	{"fi", "tammikuuta tammikuu tammi, helmikuuta helmikuu helmi, maaliskuuta maaliskuu maalis, huhtikuuta huhtikuu huhti, toukokuuta toukokuu touko, kesäkuuta kesäkuu kesä, heinäkuuta heinäkuu heinä, elokuuta elokuu elo, syyskuuta syyskuu syys, lokakuuta lokakuu loka, marraskuuta marraskuu marras, joulukuuta joulukuu joulu"},
	{"et", "jaanuar jaan, veebruar veebr, märts, aprill apr, mai, juuni, juuli, august aug, september sept, oktoober okt, november nov, detsember dets"},
	{"lv", "janvāris jan, februāris feb, marts mar, aprīlis apr, maijs mai, jūnijs jūn, jūlijs jūl, augusts aug, septembris sep, oktobris okt, novembris nov, decembris dec"},
	{"lt", "sausio sausis saus, vasario vasaris vas, kovo kovas kov, balandžio balandis bal, gegužės gegužė geg, birželio birželis birž, liepos liepa liep, rugpjūčio rugpjūtis rugp, rugsėjo rugsėjis rugs, spalio spalis spal, lapkričio lapkritis lapkr, gruodžio gruodis gruod"},
	{"pl", "stycznia styczeń sty, lutego luty lut, marca marzec mar, kwietnia kwiecień kwi, maja maj, czerwca czerwiec cze, lipca lipiec lip, sierpnia sierpień sie, września wrzesień wrz, października październik paź, listopada listopad lis, grudnia grudzień gru"},
	{"cs", "ledna leden led, února únor úno, března březen bře, dubna duben dub, května květen kvě, června červen čen, července červenec čec, srpna srpen srp, září zář, října říjen říj, listopadu listopad lis, prosince prosinec pro"},
	{"sk", "január jan januára, február feb februára, marec mar marca, apríl apr apríla, máj mája, jún júna, júl júla, august aug augusta, september sep septembra, október okt októbra, november nov novembra, december dec decembra"},
	{"sl", "januar jan januarja, februar feb februarja, marec mar marca, april apr aprila, maj maja, junij jun junija, julij jul julija, avgust avg avgusta, september sep septembra, oktober okt oktobra, november nov novembra, december dec decembra"},
	{"hr", "siječnja siječanj sij, veljače veljača velj, ožujka ožujak ožu, travnja travanj tra, svibnja svibanj svi, lipnja lipanj lip, srpnja srpanj srp, kolovoza kolovoz kol, rujna rujan ruj, listopada listopad lis, studenoga studeni stu, prosinca prosinac pro"},
	{"sr", "јануар јан, фебруар феб, март мар, април апр, мај, јун, јул, август авг, септембар сеп, октобар окт, новембар нов, децембар дец"},
	{"sr", "januar jan, februar feb, mart mar, april apr, maj, jun, jul, avgust avg, septembar sep, oktobar okt, novembar nov, decembar dec"},
	{"mk", "јануари јан, февруари фев, март мар, април апр, мај, јуни јун, јули јул, август авг, септември сеп, октомври окт, ноември ное, декември дек"},
	{"bg", "януари яну, февруари фев, март мар, април апр, май, юни, юли, август авг, септември сеп, октомври окт, ноември ное, декември дек"},
	{"ru", "января январь янв, февраля февраль фев февр, марта март мар, апреля апрель апр, мая май, июня июнь июн, июля июль июл, августа август авг, сентября сентябрь сен сент, октября октябрь окт, ноября ноябрь ноя нояб, декабря декабрь дек"},
	{"uk", "січня січень січ, лютого лютий лют, березня березень бер, квітня квітень кві квіт, травня травень тра трав, червня червень чер черв, липня липень лип, серпня серпень сер серп, вересня вересень вер, жовтня жовтень жов жовт, листопада листопад лис лист, грудня грудень гру груд"},
	{"be", "студзеня студзень сту, лютага люты лют, сакавіка сакавік сак, красавіка красавік кра, мая май, чэрвеня чэрвень чэр, ліпеня ліпень ліп, жніўня жнівень жні, верасня верасень вер, кастрычніка кастрычнік кас, лістапада лістапад ліс, снежня снежань сне"},
	{"hu", "január jan, február febr feb, március márc, április ápr, május máj, június jún, július júl, augusztus aug, szeptember szept szep, október okt, november nov, december dec"},
	{"ro", "ianuarie ian jan, februarie feb, martie mar, aprilie apr, mai, iunie iun, iulie iul, august aug, septembrie sep sept, octombrie oct, noiembrie nov noi, decembrie dec"},
	{"it", "gennaio gen, febbraio feb, marzo mar, aprile apr, maggio mag, giugno giu, luglio lug, agosto ago, settembre set sett, ottobre ott, novembre nov, dicembre dic"},
	{"es", "enero ene, febrero feb, marzo mar, abril abr, mayo may, junio jun, julio jul, agosto ago, septiembre sep setiembre sept set, octubre oct, noviembre nov, diciembre dic"},
	{"ca", "gener gen, febrer febr, març, abril abr, maig, juny, juliol jul, agost ag, setembre set, octubre oct, novembre nov, desembre des"},
	{"gl", "xaneiro xan, febreiro feb, marzo mar, abril abr, maio mai, xuño xuñ, xullo xul, agosto ago, setembro set, outubro out, novembro nov, decembro dec"},
	{"pt", "janeiro jan, fevereiro fev, março mar, abril abr, maio mai, junho jun, julho jul, agosto ago, setembro set, outubro out, novembro nov, dezembro dez"},
	{"fr", "janvier janv jan, février févr fév fev, mars mar, avril avr, mai, juin, juillet juil, août aoû, septembre sept, octobre oct, novembre nov, décembre déc"},
	{"tr", "ocak oca, şubat şub, mart mar, nisan nis, mayıs may, haziran haz, temmuz tem, ağustos ağu, eylül eyl, ekim eki, kasım kas, aralık ara"},
	{"az", "yanvar yan, fevral fev, mart mar, aprel apr, may, iyun iyn, iyul iyl, avqust avq, sentyabr sen, oktyabr okt, noyabr noy, dekabr dek"},
	{"el", "ιανουαρίου ιανουάριος ιαν, φεβρουαρίου φεβρουάριος φεβ, μαρτίου μάρτιος μαρ μάρ, απριλίου απρίλιος απρ, μαΐου μάιος μαΐ μάι, ιουνίου ιούνιος ιουν ιούν, ιουλίου ιούλιος ιουλ ιούλ, αυγούστου αύγουστος αυγ αύγ, σεπτεμβρίου σεπτέμβριος σεπ, οκτωβρίου οκτώβριος οκτ, νοεμβρίου νοέμβριος νοε νοέ, δεκεμβρίου δεκέμβριος δεκ"},
	{"id", "januari jan, februari feb peb, maret mar, april apr, mei, juni jun, juli jul, agustus agu agt ags, september sep, oktober okt, november nov nop nopember, desember des"},
	{"ms", "januari jan, februari feb, mac, april apr, mei, jun, julai jul, ogos, september sep, oktober okt, november nov, disember dis"},
	{"he", "ינואר בינואר, פברואר בפברואר, מרץ במרץ מרס, אפריל באפריל, מאי במאי, יוני ביוני, יולי ביולי, אוגוסט באוגוסט, ספטמבר בספטמבר, אוקטובר באוקטובר, נובמבר בנובמבר, דצמבר בדצמבר"},
	{"ar", "يناير, فبراير, مارس, أبريل ابريل إبريل, مايو, يونيو, يوليو, أغسطس اغسطس, سبتمبر, أكتوبر اكتوبر, نوفمبر, ديسمبر"},
	{"hi", "जनवरी जन, फ़रवरी फरवरी फ़र, मार्च, अप्रैल, मई, जून, जुलाई जुल, अगस्त अग, सितंबर सितम्बर सित, अक्तूबर अक्टूबर अक्तू, नवंबर नवम्बर नव, दिसंबर दिसम्बर दिस"},
	{"zh", "一月, 二月, 三月, 四月, 五月, 六月, 七月, 八月, 九月, 十月, 十一月, 十二月"},
}
