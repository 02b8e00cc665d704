package simulate

import "strings"

// english and russian are the words of synthetic entries: common words of IT news, which language detection,
// stemming and categories recognize.
var (
	english = strings.Fields(`
		the a of to and in is for on with that this from by at as it was are be has have will can new not more about after
		server servers database databases query queries index indexes table tables network networks protocol protocols
		release released releases version versions update updated updates security vulnerability vulnerabilities attack attacks
		kernel linux windows memory processor processors driver drivers compiler compilers language languages library libraries
		framework frameworks browser browsers application applications developer developers developing developed software
		hardware cloud cluster clusters container containers deploy deployed deployment kubernetes docker storage disk disks
		performance benchmark benchmarks faster slower latency throughput cache caching queue queues message messages stream
		streams event events function functions method methods class classes object objects type types error errors test tests
		testing bug bugs fix fixed fixes feature features support supported supports design designed pattern patterns
		architecture service services interface interfaces client clients user users company companies project projects
		open source licence community team teams code coding review reviews tool tools editor editors terminal command commands
		search engine engines model models training data dataset datasets learning machine neural image images video audio
		mobile phone phones device devices battery screen game games graphics engineer engineers research researchers science
		announced announces published publishes improved improves added adds removed removes changed changes explained explains`)
	russian = strings.Fields(`
		и в не на с что по как это для из к от за при его она они мы вы был была были быть есть уже еще только также может
		сервер серверы сервера база базы данных запрос запросы индекс индексы таблица таблицы сеть сети протокол протоколы
		выпуск выпуски версия версии версию обновление обновления безопасность уязвимость уязвимости атака атаки атаку
		ядро ядра система системы память памяти процессор процессоры драйвер драйверы компилятор язык языки программирования
		библиотека библиотеки фреймворк браузер браузеры приложение приложения разработчик разработчики разработка разработки
		программа программы облако облачный кластер кластеры контейнер контейнеры развертывание хранилище диск диски
		производительность быстрее медленнее задержка кэш очередь очереди сообщение сообщения поток потоки событие события
		функция функции метод методы класс классы объект объекты тип типы ошибка ошибки тест тесты тестирование исправлена
		исправления возможность возможности поддержка поддержки архитектура сервис сервисы интерфейс клиент клиенты
		пользователь пользователи компания компании проект проекты открытый исходный код кода сообщество команда команды
		инструмент инструменты редактор терминал поиск поисковый модель модели обучение данные машинное изображение
		мобильный телефон устройство устройства экран игра игры графика инженер инженеры исследование исследователи наука
		объявила представила опубликован улучшена добавлена удалена изменена рассказал подробности новый новая новые`)
)

// latin and cyrillic are the syllables of generated names.
var (
	latin = strings.Fields(`ba be bo da de do fa fe fi ga go ka ke ki la le li lo lu ma me mi mo na ne ni no
		pa pe po ra re ri ro ru sa se so ta te ti to tu va ve vi vo za ze zo`)
	cyrillic = strings.Fields(`ба бе бо да де до фа фе фи га го ка ке ки ла ле ли ло лу ма ме ми мо на не ни но
		па пе по ра ре ри ро ру са се со та те ти то ту ва ве ви во за зе зо`)
)
